package io.carillon.bench.workload;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.measure.Samples;
import io.carillon.bench.measure.Threads;
import io.carillon.bench.ours.BenchPayload;
import io.carillon.bench.peer.Peer;
import io.carillon.bench.raw.RawCopy;
import io.carillon.bench.raw.RawInserts;
import io.carillon.bench.report.FigureText;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Measures enqueues: single, in bulk, and in the transaction of the caller; compared with COPY and single inserts into
 * the same table.
 */
final class EnqueueRates implements Workload {
    private static final int CHUNK = 10_000;
    private static final List<Integer> THREADS = List.of(1, 8, 32);
    private static final int PEER_THREADS = 8;

    @Override
    public String name() {
        return "enqueue";
    }

    @Override
    public String about() {
        return "storing runs: single, bulk, in the caller's transaction; 1, 8 and 32 threads";
    }

    /** One iteration of one thread. */
    private interface Iteration {
        void run(int number) throws Exception;
    }

    @Override
    public Findings run(WorkloadContext context) throws Exception {
        Findings findings = new Findings();
        bulk(context, findings);
        Duration time = Duration.ofMillis(context.profile().choose(200, 2_000, 5_000));
        for (int threads : THREADS) singles(context, findings, threads, time);
        return findings;
    }

    /** The rate of a peer on a database; empty if it is not measured. */
    private interface PeerRate {
        OptionalDouble measure(Peer peer, BenchDatabase database) throws Exception;
    }

    /** Measures the peers, as in the rounds before, and judges our rate against the best of them. */
    private static void comparePeers(
            WorkloadContext context, Findings findings, String what, double bar, double ours, PeerRate rate)
            throws Exception {
        Map<String, List<Double>> rates = new LinkedHashMap<>();
        for (int round = 1; round <= context.rounds(); round++)
            for (Peer peer : context.peers()) {
                context.progress()
                        .report("%s, %s, round %d of %d".formatted(what, peer.name(), round, context.rounds()));
                try (BenchDatabase database = context.server().empty()) {
                    OptionalDouble found = rate.measure(peer, database);
                    if (found.isEmpty()) continue;
                    rates.computeIfAbsent(peer.name(), name -> new ArrayList<>())
                            .add(found.getAsDouble());
                    findings.figure("%s, %s".formatted(what, peer.name()), found.getAsDouble());
                }
            }
        if (rates.isEmpty()) return;
        double best = rates.values().stream()
                .mapToDouble(found -> Samples.of(found).median())
                .max()
                .orElseThrow();
        findings.add(Row.judged(
                what + " against the best peer",
                ">= %sx".formatted(bar),
                FigureText.factor(ours / best),
                ours / best >= bar));
        rates.forEach((name, found) ->
                findings.add(Row.info("%s, %s".formatted(what, name), FigureText.rate(Samples.of(found)), "")));
    }

    private static void bulk(WorkloadContext context, Findings findings) throws Exception {
        int rows = context.profile().choose(2_000, 100_000, 300_000);
        List<Double> ours = new ArrayList<>();
        List<Double> copy = new ArrayList<>();
        // Round 0 is the warm-up.
        for (int round = context.firstRound(); round <= context.rounds(); round++) {
            context.progress().report("bulk, round %d of %d".formatted(round, context.rounds()));
            double raw = rows / copy(context, rows);
            double own = rows / enqueueAll(context, rows);
            if (round == 0) continue;
            copy.add(raw);
            ours.add(own);
            findings.figure("COPY, per second", raw);
            findings.figure("bulk, per second", own);
        }
        double part = Samples.of(ours).median() / Samples.of(copy).median();
        findings.add(Row.judged("bulk against COPY", ">= 60 %", FigureText.percent(part), part >= 0.6)
                .note("calls of 10,000 on one thread"));
        findings.add(Row.info("bulk", FigureText.rate(Samples.of(ours)), ""));
        findings.add(Row.info("COPY", FigureText.rate(Samples.of(copy)), "10,000 rows per commit"));
        comparePeers(
                context,
                findings,
                "bulk",
                1.3,
                Samples.of(ours).median(),
                (peer, database) -> peer.bulkPerSecond(database, rows));
    }

    private static double copy(WorkloadContext context, int rows) throws Exception {
        try (BenchDatabase database = context.server().migrated()) {
            database.analyzeAndCheckpoint();
            return RawCopy.store(database, rows);
        }
    }

    private static double enqueueAll(WorkloadContext context, int rows) throws Exception {
        try (BenchDatabase database = context.server().migrated();
                HikariDataSource pool = database.pool(4);
                Carillon carillon = client(pool)) {
            database.analyzeAndCheckpoint();
            long start = System.nanoTime();
            for (int from = 0; from < rows; from += CHUNK)
                carillon.enqueueAll(BenchPayload.TYPE, BenchPayload.range(from, Math.min(rows, from + CHUNK)));
            return (System.nanoTime() - start) / 1e9;
        }
    }

    private static void singles(WorkloadContext context, Findings findings, int threads, Duration time)
            throws Exception {
        List<Double> raw = new ArrayList<>();
        List<Double> single = new ArrayList<>();
        List<Double> joined = new ArrayList<>();
        for (int round = context.firstRound(); round <= context.rounds(); round++) {
            context.progress().report("%d threads, round %d of %d".formatted(threads, round, context.rounds()));
            Duration part = round == 0 ? time.dividedBy(2) : time;
            double inserts = inserts(context, threads, part);
            double own = single(context, threads, part);
            double caller = inCallersTransaction(context, threads, part);
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
                        FigureText.percent(part),
                        part >= 0.8)
                .note("%s against %s"
                        .formatted(FigureText.rate(Samples.of(single)), FigureText.rate(Samples.of(raw)))));
        findings.add(Row.info(
                "caller's transaction, %d threads".formatted(threads),
                FigureText.rate(Samples.of(joined)),
                "NOTIFY in the same transaction"));
        int jobs = context.profile().choose(100, 1_000, 3_000) * threads;
        if (threads == PEER_THREADS)
            comparePeers(
                    context,
                    findings,
                    "single, %d threads".formatted(threads),
                    2,
                    Samples.of(single).median(),
                    (peer, database) -> peer.singlePerSecond(database, jobs, threads));
    }

    private static double inserts(WorkloadContext context, int threads, Duration time) throws Exception {
        try (BenchDatabase database = context.server().migrated()) {
            database.analyzeAndCheckpoint();
            return RawInserts.perSecond(database, threads, time);
        }
    }

    private static double single(WorkloadContext context, int threads, Duration time) throws Exception {
        try (BenchDatabase database = context.server().migrated();
                HikariDataSource pool = database.pool(threads + 4);
                Carillon carillon = client(pool)) {
            database.analyzeAndCheckpoint();
            return perSecond(threads, time, number -> carillon.enqueue(BenchPayload.TYPE, BenchPayload.of(number)));
        }
    }

    private static double inCallersTransaction(WorkloadContext context, int threads, Duration time) throws Exception {
        try (BenchDatabase database = context.server().migrated();
                HikariDataSource pool = database.pool(threads + 4);
                Carillon carillon = client(pool)) {
            database.analyzeAndCheckpoint();
            return perSecond(threads, time, number -> {
                try (Connection connection = pool.getConnection()) {
                    connection.setAutoCommit(false);
                    carillon.in(connection).enqueue(BenchPayload.TYPE, BenchPayload.of(number));
                    connection.commit();
                }
            });
        }
    }

    private static Carillon client(HikariDataSource pool) {
        return Carillon.on(pool)
                .handle(BenchPayload.TYPE, (benchPayload, run) -> {})
                .build();
    }

    private static double perSecond(int threads, Duration time, Iteration iteration) {
        AtomicInteger number = new AtomicInteger();
        return Threads.runConcurrently(threads, () -> {
                    int turns = 0;
                    long start = System.nanoTime();
                    while (System.nanoTime() - start < time.toNanos()) {
                        iteration.run(number.incrementAndGet());
                        turns++;
                    }
                    return turns / ((System.nanoTime() - start) / 1e9);
                })
                .stream()
                .mapToDouble(Double::doubleValue)
                .sum();
    }
}
