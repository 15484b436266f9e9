package io.carillon.bench.measure;

import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;

/** Lets a scheduler fire by a plan and looks how late each fire was, on the database's clock. */
public record FireMeter(Connection clock, long postmaster, Progress progress) {
    private static final Duration LATEST = Duration.ofSeconds(15);
    private static final Duration ASK_AGAIN = Duration.ofSeconds(5);

    /** What came of it. */
    public record Fired(FirePlan plan, FireBoard board, CpuMeter.Used cpu, Duration clockError) {
        public int missing() {
            return board.missing(plan.warmFires(), plan.allFires());
        }

        public int twice() {
            return board.twice(plan.warmFires(), plan.allFires());
        }

        public Samples lateMillis() {
            return board.lateMillis(plan.warmFires(), plan.allFires());
        }

        /** One of so many equal parts of the window: the rounds of a measurement that goes on. */
        public Samples lateMillis(int part, int parts) {
            int size = (plan.allFires() - plan.warmFires()) / parts;
            int from = plan.warmFires() + part * size;
            return board.lateMillis(from, from + size);
        }

        public long fires() {
            return (long) plan.allFires() - plan.warmFires();
        }
    }

    public Fired measure(String who, FirePlan plan, Firing firing) throws Exception {
        ServerTime time = ServerTime.on(clock);
        Instant first = time.now().plus(plan.lead()).truncatedTo(java.time.temporal.ChronoUnit.MILLIS);
        FireBoard board = new FireBoard(first, plan.stepNanos(), plan.allFires());
        Instant warm = first.plus(plan.warm());
        Instant end = warm.plus(plan.window());
        progress.say("%s: storing %d schedules".formatted(who, plan.schedules()));
        AutoCloseable node = firing.start(plan, first, planned -> board.fired(planned, time.nanos()));
        try (node) {
            progress.say("%s: fires from %d s on".formatted(who, plan.lead().toSeconds()));
            sleepUntil(warm, time);
            progress.say("%s: measuring for %d s".formatted(who, plan.window().toSeconds()));
            CpuMeter cpu = CpuMeter.start(postmaster);
            sleepUntil(end, time);
            CpuMeter.Used used = cpu.used();
            Pace.await(() -> board.missing(0, plan.allFires()) == 0, LATEST);
            return new Fired(plan, board, used, time.error());
        }
    }

    private void sleepUntil(Instant wanted, ServerTime time) throws Exception {
        for (Duration left = left(wanted, time); !left.isNegative(); left = left(wanted, time)) {
            Pace.sleep(left.compareTo(ASK_AGAIN) < 0 ? left.plusMillis(1) : ASK_AGAIN);
            time.askAgain(clock);
        }
    }

    private static Duration left(Instant wanted, ServerTime time) {
        return Duration.between(time.now(), wanted);
    }
}
