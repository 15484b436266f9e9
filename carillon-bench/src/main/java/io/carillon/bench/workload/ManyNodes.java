package io.carillon.bench.workload;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.measure.CpuMeter;
import io.carillon.bench.measure.MeasureException;
import io.carillon.bench.measure.Profile;
import io.carillon.bench.measure.Waiting;
import io.carillon.bench.ours.BenchPayload;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.bench.server.StatementMeter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Measures a hundred nodes in one process with one pool: their cost while idle, and the claims that one enqueue causes.
 */
final class ManyNodes implements Workload {
    private static final int CONNECTIONS_PER_NODE = 2;
    private static final int SHARED_CONNECTIONS = 40;

    @Override
    public String name() {
        return "nodes";
    }

    @Override
    public String about() {
        return "100 nodes in one process: claims caused by one enqueue, statements per idle node";
    }

    @Override
    public Findings run(WorkloadContext context) throws Exception {
        int nodes = context.profile().choose(5, 100, 100);
        Findings findings = new Findings();
        AtomicInteger started = new AtomicInteger();
        List<Carillon> running = new ArrayList<>();
        try (BenchDatabase database = context.server().migrated();
                HikariDataSource pool = database.pool(nodes * CONNECTIONS_PER_NODE + SHARED_CONNECTIONS);
                StatementMeter statements = new StatementMeter(database)) {
            try {
                for (int i = 0; i < nodes; i++) {
                    if (i % 20 == 0) context.progress().report("starting node %d of %d".formatted(i + 1, nodes));
                    running.add(Carillon.on(pool)
                            .handle(BenchPayload.TYPE, (benchPayload, run) -> started.incrementAndGet())
                            .nodeName("node-" + i)
                            .start());
                }
                measure(context, findings, database, statements, running, started);
            } finally {
                context.progress().report("stopping");
                running.forEach(Carillon::close);
            }
        }
        return findings;
    }

    private static void measure(
            WorkloadContext context,
            Findings findings,
            BenchDatabase database,
            StatementMeter statements,
            List<Carillon> nodes,
            AtomicInteger started)
            throws Exception {
        Profile profile = context.profile();
        Waiting.sleep(Duration.ofSeconds(profile.choose(1, 15, 30)));
        Duration time = Duration.ofSeconds(profile.choose(2, 20, 60));
        context.progress().report("idling for %d s".formatted(time.toSeconds()));
        long all = statements.all();
        long claims = statements.claims();
        CpuMeter cpu = CpuMeter.start(database.serverPid());
        Waiting.sleep(time);
        double cores = cpu.used().both() / time.toSeconds();
        double perNode = (statements.all() - all) / (double) time.toSeconds() / nodes.size();
        double idleClaims = (statements.claims() - claims) / (double) time.toSeconds();
        findings.figure("statements per second and idle node", perNode);
        findings.figure("claims per second, all nodes idle", idleClaims);
        findings.add(Row.judged(
                        "%d idle nodes".formatted(nodes.size()),
                        "<= 0.5 statements/s per node",
                        "%.2f/s".formatted(perNode),
                        perNode <= 0.5)
                .note("CPU of all and the database %.0f %% of a core".formatted(cores * 100)));
        double caused = claimsPerEnqueue(context, statements, nodes, started, idleClaims);
        findings.figure("claims caused by one enqueue", caused);
        findings.add(Row.judged(
                "one enqueue among %d nodes".formatted(nodes.size()),
                "<= 5 claims in all",
                "%.1f claims".formatted(caused),
                caused <= 5));
    }

    /** Returns the claims per enqueue in addition to those of the idle nodes. Each enqueue uses another node. */
    private static double claimsPerEnqueue(
            WorkloadContext context,
            StatementMeter statements,
            List<Carillon> nodes,
            AtomicInteger started,
            double idleClaims)
            throws Exception {
        int runs = context.profile().choose(3, 30, 100);
        context.progress().report("%d enqueues".formatted(runs));
        long before = statements.claims();
        long start = System.nanoTime();
        for (int i = 0; i < runs; i++) {
            int wanted = i + 1;
            nodes.get(i % nodes.size()).enqueue(BenchPayload.TYPE, BenchPayload.of(i));
            Waiting.require("Run " + i, () -> started.get() >= wanted, Duration.ofSeconds(20));
            Waiting.sleep(Duration.ofMillis(200));
        }
        double seconds = Waiting.seconds(start, System.nanoTime());
        long counted = statements.claims() - before;
        if (counted < runs)
            throw new MeasureException("Only %2$d claims were counted for %1$d runs.".formatted(runs, counted));
        return Math.max(0, (counted - idleClaims * seconds) / runs);
    }
}
