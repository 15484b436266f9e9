package io.carillon.bench.workload;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.measure.CpuMeter;
import io.carillon.bench.measure.ServerTime;
import io.carillon.bench.measure.Waiting;
import io.carillon.bench.ours.BenchPayload;
import io.carillon.bench.ours.CarillonDrain;
import io.carillon.bench.ours.CarillonSchedules;
import io.carillon.bench.raw.RawCopy;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.Autovacuum;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.bench.server.Sql;
import io.carillon.bench.server.StatementMeter;
import java.sql.Connection;
import java.time.Duration;

/** Measures an idle node with one million future runs and one million schedules. */
final class Idle implements Workload {
    private static final int MAX_TRIES = 3;

    @Override
    public String name() {
        return "idle";
    }

    @Override
    public String about() {
        return "one node, nothing due, 1 M future runs and 1 M schedules: statements per second and CPU";
    }

    private record Measured(double statements, double nodeCpu, double serverCpu, boolean isAutovacuumQuiet) {}

    @Override
    public Findings run(WorkloadContext context) throws Exception {
        int stored = context.profile().choose(1_000, 1_000_000, 1_000_000);
        Findings findings = new Findings();
        try (BenchDatabase database = context.server().migrated();
                HikariDataSource pool = database.pool(CarillonDrain.POOL)) {
            context.progress().report("storing %,d future runs".formatted(stored));
            RawCopy.store(database, stored, Duration.ofDays(1));
            context.progress().report("storing %,d schedules".formatted(stored));
            try (Carillon client = Carillon.on(pool)
                            .handle(BenchPayload.TYPE, (benchPayload, run) -> {})
                            .build();
                    Connection clock = database.connect()) {
                CarillonSchedules.store(
                        database,
                        client,
                        CarillonSchedules.Copies.dormant(
                                "idle", stored, ServerTime.on(clock).now()));
            }
            context.progress().report("vacuum");
            database.vacuum();
            Carillon node = Carillon.on(pool)
                    .handle(BenchPayload.TYPE, (benchPayload, run) -> {})
                    .start();
            try (node) {
                rows(findings, measure(context, database));
            }
        }
        return findings;
    }

    private static Measured measure(WorkloadContext context, BenchDatabase database) throws Exception {
        Duration time = Duration.ofSeconds(context.profile().choose(2, 20, 60));
        // The work of the start must not be measured.
        Waiting.sleep(Duration.ofSeconds(context.profile().choose(1, 12, 30)));
        try (StatementMeter statements = new StatementMeter(database);
                HikariDataSource pool = database.pool(1)) {
            Autovacuum autovacuum = new Autovacuum(new Sql(pool));
            Measured measured = new Measured(0, 0, 0, false);
            for (int i = 0; i < MAX_TRIES && !measured.isAutovacuumQuiet; i++) {
                context.progress().report("waiting for autovacuum");
                autovacuum.awaitQuiet(Duration.ofSeconds(60));
                context.progress().report("idling for %d s".formatted(time.toSeconds()));
                long rounds = autovacuum.rounds();
                long before = statements.all();
                CpuMeter cpu = CpuMeter.start(database.serverPid());
                Waiting.sleep(time);
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
        String note = measured.isAutovacuumQuiet ? "autovacuum was quiet" : "autovacuum was at work";
        findings.add(
                Row.judged("statements", "<= 2/s", "%.2f/s".formatted(measured.statements), measured.statements <= 2)
                        .note(note));
        double cpu = measured.nodeCpu + measured.serverCpu;
        findings.add(
                Row.judged("CPU of node and database", "<= 1 % of a core", "%.2f %%".formatted(cpu * 100), cpu <= 0.01)
                        .note("%.2f + %.2f %%, %s".formatted(measured.nodeCpu * 100, measured.serverCpu * 100, note)));
    }
}
