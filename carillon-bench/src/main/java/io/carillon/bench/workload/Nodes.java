package io.carillon.bench.workload;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.measure.CpuMeter;
import io.carillon.bench.measure.MeasureException;
import io.carillon.bench.measure.Pace;
import io.carillon.bench.ours.Job;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.bench.server.StatementMeter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** A hundred nodes in one process on one pool: what they cost while nothing happens, and how many of them run for one run. */
final class Nodes implements Workload {
    private static final int HELD_BY_A_NODE = 2;
    private static final int SHARED = 40;

    @Override
    public String name() {
        return "nodes";
    }

    @Override
    public String about() {
        return "100 nodes in one process: claims caused by one enqueue, statements per idle node";
    }

    @Override
    public Findings run(Stage stage) throws Exception {
        int nodes = stage.profile().pick(5, 100, 100);
        Findings findings = new Findings();
        AtomicInteger started = new AtomicInteger();
        List<Carillon> running = new ArrayList<>();
        try (BenchDatabase database = stage.server().migrated();
                HikariDataSource pool = database.pool(nodes * HELD_BY_A_NODE + SHARED);
                StatementMeter statements = new StatementMeter(database)) {
            try {
                for (int i = 0; i < nodes; i++) {
                    if (i % 20 == 0) stage.progress().say("starting node %d of %d".formatted(i + 1, nodes));
                    running.add(Carillon.on(pool)
                            .handle(Job.TYPE, (job, run) -> started.incrementAndGet())
                            .nodeName("node-" + i)
                            .start());
                }
                measure(stage, findings, database, statements, running, started);
            } finally {
                stage.progress().say("stopping");
                running.forEach(Carillon::close);
            }
        }
        return findings;
    }

    private static void measure(
            Stage stage,
            Findings findings,
            BenchDatabase database,
            StatementMeter statements,
            List<Carillon> nodes,
            AtomicInteger started)
            throws Exception {
        Profile profile = stage.profile();
        Pace.sleep(Duration.ofSeconds(profile.pick(1, 15, 30)));
        Duration time = Duration.ofSeconds(profile.pick(2, 20, 60));
        stage.progress().say("idling for %d s".formatted(time.toSeconds()));
        long all = statements.all();
        long claims = statements.claims();
        CpuMeter cpu = CpuMeter.start(database.serverPid());
        Pace.sleep(time);
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
        double caused = caused(stage, statements, nodes, started, idleClaims);
        findings.figure("claims caused by one enqueue", caused);
        findings.add(Row.judged(
                "one enqueue among %d nodes".formatted(nodes.size()),
                "<= 5 claims in all",
                "%.1f claims".formatted(caused),
                caused <= 5));
    }

    /** Claims beyond those of the idle nodes, for each of a few enqueues, each by another node. */
    private static double caused(
            Stage stage, StatementMeter statements, List<Carillon> nodes, AtomicInteger started, double idleClaims)
            throws Exception {
        int runs = stage.profile().pick(3, 30, 100);
        stage.progress().say("%d enqueues".formatted(runs));
        long before = statements.claims();
        long start = System.nanoTime();
        for (int i = 0; i < runs; i++) {
            int wanted = i + 1;
            nodes.get(i % nodes.size()).enqueue(Job.TYPE, Job.of(i));
            Pace.require("Run " + i, () -> started.get() >= wanted, Duration.ofSeconds(20));
            Pace.sleep(Duration.ofMillis(200));
        }
        double seconds = Pace.seconds(start, System.nanoTime());
        long counted = statements.claims() - before;
        if (counted < runs)
            throw new MeasureException(
                    "%d runs were claimed by %d claims: they are not counted.".formatted(runs, counted));
        return Math.max(0, (counted - idleClaims * seconds) / runs);
    }
}
