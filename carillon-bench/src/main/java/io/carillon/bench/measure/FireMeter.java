package io.carillon.bench.measure;

import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;

/** Runs a scheduler with a plan and measures the lateness of each fire on the clock of the database. */
public record FireMeter(Connection clock, long postmaster, Progress progress) {
    private static final Duration MAX_LATENESS = Duration.ofSeconds(15);
    private static final Duration CLOCK_REFRESH_INTERVAL = Duration.ofSeconds(5);

    /** The result of a measurement. */
    public record FireResult(FirePlan plan, FireLatencies latencies, CpuMeter.Used cpu, Duration clockError) {
        public int missing() {
            return latencies.missing(plan.warmFires(), plan.allFires());
        }

        public int duplicates() {
            return latencies.duplicates(plan.warmFires(), plan.allFires());
        }

        public Samples lateMillis() {
            return latencies.lateMillis(plan.warmFires(), plan.allFires());
        }

        /**
         * Returns the lateness in one of several equal parts of the window. The parts serve as rounds of
         * a continuous measurement.
         */
        public Samples lateMillis(int part, int parts) {
            int size = (plan.allFires() - plan.warmFires()) / parts;
            int from = plan.warmFires() + part * size;
            return latencies.lateMillis(from, from + size);
        }

        public long fires() {
            return (long) plan.allFires() - plan.warmFires();
        }
    }

    public FireResult measure(String name, FirePlan plan, FiringScheduler firingScheduler) throws Exception {
        ServerTime time = ServerTime.on(clock);
        Instant first = time.now().plus(plan.lead()).truncatedTo(java.time.temporal.ChronoUnit.MILLIS);
        FireLatencies latencies = new FireLatencies(first, plan.stepNanos(), plan.allFires());
        Instant warm = first.plus(plan.warm());
        Instant end = warm.plus(plan.window());
        progress.report("%s: storing %d schedules".formatted(name, plan.schedules()));
        AutoCloseable node = firingScheduler.start(plan, first, planned -> latencies.fired(planned, time.nanos()));
        try (node) {
            progress.report("%s: first fire in %d s".formatted(name, plan.lead().toSeconds()));
            sleepUntil(warm, time);
            progress.report(
                    "%s: measuring for %d s".formatted(name, plan.window().toSeconds()));
            CpuMeter cpu = CpuMeter.start(postmaster);
            sleepUntil(end, time);
            CpuMeter.Used used = cpu.used();
            Waiting.await(() -> latencies.missing(0, plan.allFires()) == 0, MAX_LATENESS);
            return new FireResult(plan, latencies, used, time.error());
        }
    }

    private void sleepUntil(Instant wanted, ServerTime time) throws Exception {
        for (Duration left = left(wanted, time); !left.isNegative(); left = left(wanted, time)) {
            Waiting.sleep(left.compareTo(CLOCK_REFRESH_INTERVAL) < 0 ? left.plusMillis(1) : CLOCK_REFRESH_INTERVAL);
            time.refresh(clock);
        }
    }

    private static Duration left(Instant wanted, ServerTime time) {
        return Duration.between(time.now(), wanted);
    }
}
