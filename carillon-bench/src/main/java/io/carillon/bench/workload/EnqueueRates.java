package io.carillon.bench.workload;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.measure.Samples;
import io.carillon.bench.measure.Threads;
import io.carillon.bench.ours.Job;
import io.carillon.bench.raw.RawCopy;
import io.carillon.bench.raw.RawInserts;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Storing runs: one at a time, many at once, in the caller's transaction; beside COPY and plain inserts into the same table. */
final class EnqueueRates implements Workload {
    private static final int CHUNK = 10_000;
    private static final List<Integer> THREADS = List.of(1, 8, 32);

    @Override
    public String name() {
        return "enqueue";
    }

    @Override
    public String about() {
        return "storing runs: single, bulk, in the caller's transaction; 1, 8 and 32 threads";
    }

    /** One turn of one thread. */
    private interface Turn {
        void take(int number) throws Exception;
    }

    @Override
    public Findings run(Stage stage) throws Exception {
        Findings findings = new Findings();
        bulk(stage, findings);
        Duration time = Duration.ofMillis(stage.profile().pick(200, 2_000, 5_000));
        for (int threads : THREADS) singles(stage, findings, threads, time);
        return findings;
    }

    private static void bulk(Stage stage, Findings findings) throws Exception {
        int rows = stage.profile().pick(2_000, 100_000, 300_000);
        List<Double> ours = new ArrayList<>();
        List<Double> copy = new ArrayList<>();
        // The first round warms up.
        for (int round = stage.firstRound(); round <= stage.rounds(); round++) {
            stage.progress().say("bulk, round %d of %d".formatted(round, stage.rounds()));
            double raw = rows / copy(stage, rows);
            double own = rows / enqueueAll(stage, rows);
            if (round == 0) continue;
            copy.add(raw);
            ours.add(own);
            findings.figure("COPY, per second", raw);
            findings.figure("bulk, per second", own);
        }
        double part = Samples.of(ours).median() / Samples.of(copy).median();
        findings.add(Row.judged("bulk against COPY", ">= 60 %", Text.percent(part), part >= 0.6)
                .note("calls of 10,000 on one thread"));
        findings.add(Row.info("bulk", Text.rate(Samples.of(ours)), ""));
        findings.add(Row.info("COPY", Text.rate(Samples.of(copy)), "10,000 rows to a commit"));
    }

    private static double copy(Stage stage, int rows) throws Exception {
        try (BenchDatabase database = stage.server().migrated()) {
            database.settle();
            return RawCopy.store(database, rows);
        }
    }

    private static double enqueueAll(Stage stage, int rows) throws Exception {
        try (BenchDatabase database = stage.server().migrated();
                HikariDataSource pool = database.pool(4);
                Carillon carillon = desk(pool)) {
            database.settle();
            long start = System.nanoTime();
            for (int from = 0; from < rows; from += CHUNK)
                carillon.enqueueAll(Job.TYPE, Job.range(from, Math.min(rows, from + CHUNK)));
            return (System.nanoTime() - start) / 1e9;
        }
    }

    private static void singles(Stage stage, Findings findings, int threads, Duration time) throws Exception {
        List<Double> raw = new ArrayList<>();
        List<Double> single = new ArrayList<>();
        List<Double> joined = new ArrayList<>();
        for (int round = stage.firstRound(); round <= stage.rounds(); round++) {
            stage.progress().say("%d threads, round %d of %d".formatted(threads, round, stage.rounds()));
            Duration part = round == 0 ? time.dividedBy(2) : time;
            double inserts = inserts(stage, threads, part);
            double own = single(stage, threads, part);
            double caller = joined(stage, threads, part);
            if (round == 0) continue;
            raw.add(inserts);
            single.add(own);
            joined.add(caller);
            findings.figure("plain insert, %d threads".formatted(threads), inserts);
            findings.figure("single, %d threads".formatted(threads), own);
            findings.figure("caller's transaction, %d threads".formatted(threads), caller);
        }
        double part = Samples.of(single).median() / Samples.of(raw).median();
        findings.add(Row.judged(
                        "single against inserts, %d threads".formatted(threads),
                        ">= 80 %",
                        Text.percent(part),
                        part >= 0.8)
                .note("%s against %s".formatted(Text.rate(Samples.of(single)), Text.rate(Samples.of(raw)))));
        findings.add(Row.info(
                "caller's transaction, %d threads".formatted(threads),
                Text.rate(Samples.of(joined)),
                "hint rides along"));
    }

    private static double inserts(Stage stage, int threads, Duration time) throws Exception {
        try (BenchDatabase database = stage.server().migrated()) {
            database.settle();
            return RawInserts.perSecond(database, threads, time);
        }
    }

    private static double single(Stage stage, int threads, Duration time) throws Exception {
        try (BenchDatabase database = stage.server().migrated();
                HikariDataSource pool = database.pool(threads + 4);
                Carillon carillon = desk(pool)) {
            database.settle();
            return perSecond(threads, time, number -> carillon.enqueue(Job.TYPE, Job.of(number)));
        }
    }

    private static double joined(Stage stage, int threads, Duration time) throws Exception {
        try (BenchDatabase database = stage.server().migrated();
                HikariDataSource pool = database.pool(threads + 4);
                Carillon carillon = desk(pool)) {
            database.settle();
            return perSecond(threads, time, number -> {
                try (Connection connection = pool.getConnection()) {
                    connection.setAutoCommit(false);
                    carillon.in(connection).enqueue(Job.TYPE, Job.of(number));
                    connection.commit();
                }
            });
        }
    }

    private static Carillon desk(HikariDataSource pool) {
        return Carillon.on(pool).handle(Job.TYPE, (job, run) -> {}).build();
    }

    private static double perSecond(int threads, Duration time, Turn turn) {
        AtomicInteger number = new AtomicInteger();
        return Threads.together(threads, () -> {
                    int turns = 0;
                    long start = System.nanoTime();
                    while (System.nanoTime() - start < time.toNanos()) {
                        turn.take(number.incrementAndGet());
                        turns++;
                    }
                    return turns / ((System.nanoTime() - start) / 1e9);
                })
                .stream()
                .mapToDouble(Double::doubleValue)
                .sum();
    }
}
