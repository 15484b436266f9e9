package io.carillon.bench.workload;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.HandlerOptions;
import io.carillon.bench.measure.FirePlan;
import io.carillon.bench.measure.Profile;
import io.carillon.bench.measure.ServerTime;
import io.carillon.bench.measure.Threads;
import io.carillon.bench.measure.Waiting;
import io.carillon.bench.ours.BenchPayload;
import io.carillon.bench.ours.CarillonDrain;
import io.carillon.bench.ours.CarillonSchedules;
import io.carillon.bench.report.FigureText;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.bench.server.Sql;
import io.carillon.run.Retry;
import io.carillon.spi.RunEvent;
import io.carillon.spi.RunListener;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Measures a mixed load at full speed: schedules fire, runs are enqueued up to a bounded backlog, and one run in twenty
 * fails once and is retried.
 */
final class Mixed implements Workload {
    private static final int MAX_BACKLOG = 10_000;
    private static final int CHUNK = 1_000;
    private static final int FAILURE_EVERY = 20;
    private static final int SLICES = 10;
    private static final double MAX_GROWTH = 1.5;

    @Override
    public String name() {
        return "mixed";
    }

    @Override
    public String about() {
        return "fires, enqueues, retries and history at the same time: stability of the speed and of the table sizes";
    }

    /** A slice of the time: its rate, and the state of the hot table at its end. */
    private record Slice(double perSecond, long deadRows, long bytes) {}

    private static final class MixedLoad implements RunListener {
        private final AtomicLong ended = new AtomicLong();
        private final AtomicLong pending = new AtomicLong();
        private final AtomicInteger numbers = new AtomicInteger();
        private final AtomicBoolean active = new AtomicBoolean(true);

        @Override
        public boolean isNonBlocking() {
            return true;
        }

        @Override
        public void onRunEvent(RunEvent event) {
            if (event instanceof RunEvent.AttemptEnded) ended.incrementAndGet();
            if (event instanceof RunEvent.Succeeded && event.run().plannedAt() == null) pending.decrementAndGet();
        }

        /** Enqueues runs and keeps the backlog bounded. */
        void keepBacklog(Carillon carillon) {
            while (active.get()) {
                if (pending.get() > MAX_BACKLOG) {
                    Waiting.sleep(Duration.ofMillis(5));
                    continue;
                }
                int from = numbers.getAndAdd(CHUNK);
                pending.addAndGet(CHUNK);
                carillon.enqueueAll(BenchPayload.TYPE, BenchPayload.range(from, from + CHUNK));
            }
        }
    }

    @Override
    public Findings run(WorkloadContext context) throws Exception {
        Duration slice = Duration.ofSeconds(context.profile().choose(1, 7, 60));
        int slices = context.profile().choose(3, SLICES, SLICES);
        int schedules = context.profile().choose(100, 2_000, 2_000);
        Findings findings = new Findings();
        try (BenchDatabase database = context.server().migrated();
                HikariDataSource pool = database.pool(CarillonDrain.POOL + 2)) {
            MixedLoad mixedLoad = new MixedLoad();
            FirePlan plan = new FirePlan(schedules, Duration.ofSeconds(10), slice, slice, slice);
            try (Carillon client = Carillon.on(pool)
                    .handle(BenchPayload.TYPE, (benchPayload, run) -> {})
                    .build()) {
                CarillonSchedules.store(
                        database,
                        client,
                        CarillonSchedules.Copies.of(plan, now(database).plusSeconds(2)));
            }
            try (Carillon node = node(pool, mixedLoad)) {
                Thread feeder = Threads.start("bench-feeder", () -> mixedLoad.keepBacklog(node));
                List<Slice> measured = slices(context, new Sql(pool), mixedLoad, slice, slices);
                mixedLoad.active.set(false);
                feeder.join();
                rows(context, findings, measured);
            }
        }
        return findings;
    }

    private static Carillon node(HikariDataSource pool, MixedLoad mixedLoad) {
        return Carillon.on(pool)
                .handle(
                        BenchPayload.TYPE,
                        (benchPayload, run) -> {
                            if (run.failures() == 0
                                    && run.plannedAt().isEmpty()
                                    && benchPayload.number() % FAILURE_EVERY == 0)
                                throw new IllegalStateException("fails once on purpose");
                        },
                        HandlerOptions.defaults().retry(Retry.exponential(Duration.ofSeconds(1))))
                .listener(mixedLoad)
                .start();
    }

    private static List<Slice> slices(
            WorkloadContext context, Sql sql, MixedLoad mixedLoad, Duration slice, int count) {
        List<Slice> slices = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            context.progress().report("slice %d of %d".formatted(i + 1, count));
            long before = mixedLoad.ended.get();
            long start = System.nanoTime();
            Waiting.sleep(slice);
            double perSecond = (mixedLoad.ended.get() - before) / Waiting.seconds(start, System.nanoTime());
            slices.add(new Slice(
                    perSecond,
                    sql.number("SELECT coalesce(n_dead_tup, 0) FROM pg_stat_all_tables"
                            + " WHERE relid = 'carillon.run'::regclass"),
                    sql.number("SELECT pg_total_relation_size('carillon.run')")));
        }
        return slices;
    }

    private static Instant now(BenchDatabase database) throws Exception {
        try (Connection clock = database.connect()) {
            return ServerTime.on(clock).now();
        }
    }

    private static void rows(WorkloadContext context, Findings findings, List<Slice> slices) {
        for (Slice slice : slices) {
            findings.figure("ended per second", slice.perSecond);
            findings.figure("dead tuples of run", (double) slice.deadRows);
            findings.figure("bytes of run and its indexes", (double) slice.bytes);
        }
        Slice second = slices.get(1);
        Slice last = slices.get(slices.size() - 1);
        String note = context.profile() == Profile.FULL
                ? ""
                : "shortened: the bar applies to 10 minutes with slices of one minute";
        double part = last.perSecond / second.perSecond;
        findings.add(Row.judged(
                        "last slice against the second",
                        ">= 90 %",
                        "%s: %s against %s"
                                .formatted(
                                        FigureText.percent(part),
                                        FigureText.rate(last.perSecond),
                                        FigureText.rate(second.perSecond)),
                        part >= 0.9)
                .note(note));
        // From the middle slice on, vacuum has reached a steady state and nothing may grow.
        Slice middle = slices.get(slices.size() / 2);
        double size = (double) last.bytes / middle.bytes;
        double dead =
                last.deadRows / (double) Math.max(MAX_BACKLOG, maxDeadRows(slices.subList(0, slices.size() / 2 + 1)));
        findings.add(Row.judged(
                        "hot table",
                        "dead tuples and size flat (<= 1.5x from the middle on)",
                        "size %.2fx (%d MiB), dead tuples %.2fx (%,d)"
                                .formatted(size, last.bytes >> 20, dead, last.deadRows),
                        size <= MAX_GROWTH && dead <= MAX_GROWTH)
                .note(note));
    }

    private static long maxDeadRows(List<Slice> slices) {
        return slices.stream().mapToLong(Slice::deadRows).max().orElse(0);
    }
}
