package io.carillon.bench.workload;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.measure.FirePlan;
import io.carillon.bench.measure.Pace;
import io.carillon.bench.measure.ServerTime;
import io.carillon.bench.measure.Threads;
import io.carillon.bench.ours.Job;
import io.carillon.bench.ours.OurDrain;
import io.carillon.bench.ours.OurSchedules;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.bench.server.Sql;
import io.carillon.run.Attempt;
import io.carillon.run.Retry;
import io.carillon.run.RunListener;
import io.carillon.run.Transition;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Everything at a time, as fast as it goes: schedules fire, runs are enqueued behind a bounded backlog, one in twenty fails once and is retried. */
final class Mixed implements Workload {
    private static final int BACKLOG = 10_000;
    private static final int CHUNK = 1_000;
    private static final int FAILS = 20;
    private static final int SLICES = 10;
    private static final double FLAT = 1.5;

    @Override
    public String name() {
        return "mixed";
    }

    @Override
    public String about() {
        return "fires, enqueues, retries and history at a time: does it stay as fast, do the tables stay as small";
    }

    /** One slice of the time: what was done in it, and what the hot table looked like at its end. */
    private record Slice(double perSecond, long dead, long bytes) {}

    private static final class Load implements RunListener {
        private final AtomicLong ended = new AtomicLong();
        private final AtomicLong open = new AtomicLong();
        private final AtomicInteger numbers = new AtomicInteger();
        private final AtomicBoolean going = new AtomicBoolean(true);

        @Override
        public boolean quick() {
            return true;
        }

        @Override
        public void ended(Attempt attempt, Transition transition, Duration took) {
            ended.incrementAndGet();
            if (transition instanceof Transition.Complete && attempt.times().plannedAt() == null)
                open.decrementAndGet();
        }

        /** Keeps a backlog, without letting it grow. */
        void feed(Carillon carillon) {
            while (going.get()) {
                if (open.get() > BACKLOG) {
                    Pace.sleep(Duration.ofMillis(5));
                    continue;
                }
                int from = numbers.getAndAdd(CHUNK);
                open.addAndGet(CHUNK);
                carillon.enqueueAll(Job.TYPE, Job.range(from, from + CHUNK));
            }
        }
    }

    @Override
    public Findings run(Stage stage) throws Exception {
        Duration slice = Duration.ofSeconds(stage.profile().pick(1, 7, 60));
        int slices = stage.profile().pick(3, SLICES, SLICES);
        int schedules = stage.profile().pick(100, 2_000, 2_000);
        Findings findings = new Findings();
        try (BenchDatabase database = stage.server().migrated();
                HikariDataSource pool = database.pool(OurDrain.POOL + 2)) {
            Load load = new Load();
            FirePlan plan = new FirePlan(schedules, Duration.ofSeconds(10), slice, slice, slice);
            try (Carillon desk =
                    Carillon.on(pool).handle(Job.TYPE, (job, run) -> {}).build()) {
                OurSchedules.store(
                        database,
                        desk,
                        OurSchedules.Copies.of(plan, now(database).plusSeconds(2)));
            }
            try (Carillon node = node(pool, load)) {
                Thread feeder = Threads.start("bench-feeder", () -> load.feed(node));
                List<Slice> measured = slices(stage, new Sql(pool), load, slice, slices);
                load.going.set(false);
                feeder.join();
                rows(stage, findings, measured);
            }
        }
        return findings;
    }

    private static Carillon node(HikariDataSource pool, Load load) {
        return Carillon.on(pool)
                .handle(
                        Job.TYPE,
                        (job, run) -> {
                            if (run.failures() == 0 && run.plannedAt().isEmpty() && job.number() % FAILS == 0)
                                throw new IllegalStateException("this one fails once");
                        },
                        options -> options.retry(Retry.exponential(Duration.ofSeconds(1))))
                .listener(load)
                .start();
    }

    private static List<Slice> slices(Stage stage, Sql sql, Load load, Duration slice, int count) {
        List<Slice> slices = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            stage.progress().say("slice %d of %d".formatted(i + 1, count));
            long before = load.ended.get();
            long start = System.nanoTime();
            Pace.sleep(slice);
            double perSecond = (load.ended.get() - before) / Pace.seconds(start, System.nanoTime());
            slices.add(new Slice(
                    perSecond,
                    sql.number(
                            "SELECT coalesce(n_dead_tup, 0) FROM pg_stat_all_tables WHERE relid = 'carillon.run'::regclass"),
                    sql.number("SELECT pg_total_relation_size('carillon.run')")));
        }
        return slices;
    }

    private static Instant now(BenchDatabase database) throws Exception {
        try (Connection clock = database.connect()) {
            return ServerTime.on(clock).now();
        }
    }

    private static void rows(Stage stage, Findings findings, List<Slice> slices) {
        for (Slice slice : slices) {
            findings.figure("ended per second", slice.perSecond);
            findings.figure("dead tuples of run", (double) slice.dead);
            findings.figure("bytes of run and its indexes", (double) slice.bytes);
        }
        Slice second = slices.get(1);
        Slice last = slices.get(slices.size() - 1);
        String note = stage.profile() == Profile.FULL ? "" : "miniature: the bar means 10 minutes, a slice is a minute";
        double part = last.perSecond / second.perSecond;
        findings.add(Row.judged(
                        "last slice against the second",
                        ">= 90 %",
                        "%s: %s against %s"
                                .formatted(Text.percent(part), Text.rate(last.perSecond), Text.rate(second.perSecond)),
                        part >= 0.9)
                .note(note));
        // The middle is where vacuum has found its rhythm; from there on nothing may grow.
        Slice middle = slices.get(slices.size() / 2);
        double size = (double) last.bytes / middle.bytes;
        double dead = last.dead / (double) Math.max(BACKLOG, mostDead(slices.subList(0, slices.size() / 2 + 1)));
        findings.add(Row.judged(
                        "hot table",
                        "dead tuples and size flat (<= 1.5x from the middle on)",
                        "size %.2fx (%d MiB), dead tuples %.2fx (%,d)"
                                .formatted(size, last.bytes >> 20, dead, last.dead),
                        size <= FLAT && dead <= FLAT)
                .note(note));
    }

    private static long mostDead(List<Slice> slices) {
        return slices.stream().mapToLong(Slice::dead).max().orElse(0);
    }
}
