package io.carillon.bench.workload;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.measure.CpuMeter;
import io.carillon.bench.measure.Pace;
import io.carillon.bench.measure.ServerTime;
import io.carillon.bench.ours.Job;
import io.carillon.bench.ours.OurDrain;
import io.carillon.bench.ours.OurSchedules;
import io.carillon.bench.raw.RawCopy;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.Autovacuum;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.bench.server.Sql;
import io.carillon.bench.server.StatementMeter;
import java.sql.Connection;
import java.time.Duration;

/** A node with nothing to do beside a million future runs and a million schedules. */
final class Idle implements Workload {
    private static final int TRIES = 3;

    @Override
    public String name() {
        return "idle";
    }

    @Override
    public String about() {
        return "one node, nothing due, 1 M future runs and 1 M schedules: statements per second and CPU";
    }

    private record Measured(double statements, double nodeCpu, double serverCpu, boolean quiet) {}

    @Override
    public Findings run(Stage stage) throws Exception {
        int stored = stage.profile().pick(1_000, 1_000_000, 1_000_000);
        Findings findings = new Findings();
        try (BenchDatabase database = stage.server().migrated();
                HikariDataSource pool = database.pool(OurDrain.POOL)) {
            stage.progress().say("storing %,d future runs".formatted(stored));
            RawCopy.store(database, stored, Duration.ofDays(1));
            stage.progress().say("storing %,d schedules".formatted(stored));
            try (Carillon desk =
                            Carillon.on(pool).handle(Job.TYPE, (job, run) -> {}).build();
                    Connection clock = database.connect()) {
                OurSchedules.store(
                        database,
                        desk,
                        OurSchedules.Copies.dormant(
                                "idle", stored, ServerTime.on(clock).now()));
            }
            stage.progress().say("vacuum");
            database.vacuum();
            Carillon node = Carillon.on(pool).handle(Job.TYPE, (job, run) -> {}).start();
            try (node) {
                rows(findings, measure(stage, database));
            }
        }
        return findings;
    }

    private static Measured measure(Stage stage, BenchDatabase database) throws Exception {
        Duration time = Duration.ofSeconds(stage.profile().pick(2, 20, 60));
        // What a start has to do is not idling.
        Pace.sleep(Duration.ofSeconds(stage.profile().pick(1, 12, 30)));
        try (StatementMeter statements = new StatementMeter(database);
                HikariDataSource pool = database.pool(1)) {
            Autovacuum autovacuum = new Autovacuum(new Sql(pool));
            Measured measured = new Measured(0, 0, 0, false);
            for (int i = 0; i < TRIES && !measured.quiet; i++) {
                stage.progress().say("waiting for autovacuum");
                autovacuum.awaitQuiet(Duration.ofSeconds(60));
                stage.progress().say("idling for %d s".formatted(time.toSeconds()));
                long rounds = autovacuum.rounds();
                long before = statements.all();
                CpuMeter cpu = CpuMeter.start(database.serverPid());
                Pace.sleep(time);
                CpuMeter.Used used = cpu.used();
                double seconds = time.toMillis() / 1e3;
                measured = new Measured(
                        (statements.all() - before) / seconds,
                        used.jvm() / seconds,
                        used.server() / seconds,
                        autovacuum.rounds() == rounds);
            }
            return measured;
        }
    }

    private static void rows(Findings findings, Measured measured) {
        findings.figure("statements per second", measured.statements);
        findings.figure("CPU of the node, cores", measured.nodeCpu);
        findings.figure("CPU of the database, cores", measured.serverCpu);
        String note = measured.quiet ? "autovacuum was quiet" : "autovacuum was at work";
        findings.add(
                Row.judged("statements", "<= 2/s", "%.2f/s".formatted(measured.statements), measured.statements <= 2)
                        .note(note));
        double cpu = measured.nodeCpu + measured.serverCpu;
        findings.add(
                Row.judged("CPU of node and database", "<= 1 % of a core", "%.2f %%".formatted(cpu * 100), cpu <= 0.01)
                        .note("%.2f + %.2f %%, %s".formatted(measured.nodeCpu * 100, measured.serverCpu * 100, note)));
    }
}
