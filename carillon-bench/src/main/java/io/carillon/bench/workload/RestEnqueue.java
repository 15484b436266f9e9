package io.carillon.bench.workload;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.bench.http.BareServer;
import io.carillon.bench.http.HttpLoadGenerator;
import io.carillon.bench.measure.CpuMeter;
import io.carillon.bench.measure.Samples;
import io.carillon.bench.ours.CarillonRestServer;
import io.carillon.bench.raw.RawInserts;
import io.carillon.bench.report.FigureText;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.bench.server.StatementMeter;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Measures enqueues over HTTP, compared with two handlers on the same Jetty: one that does nothing and one that commits
 * one row. They show the limits of HTTP and of the database.
 */
final class RestEnqueue implements Workload {
    private static final List<Integer> CONNECTIONS = List.of(1, 8, 32);
    private static final int SHARING_CONNECTIONS = 32;
    private static final int WARM_UP_CONNECTIONS = 8;
    private static final int BATCH = 100;
    private static final byte[] ANSWER =
            "{\"run\":\"run_01m7fa4qfbe01964w8h2zr6k5t\",\"enqueued\":true}".getBytes(StandardCharsets.UTF_8);

    @Override
    public String name() {
        return "rest";
    }

    @Override
    public String about() {
        return "POST /v1/runs over 1, 8 and 32 connections, beside a bare handler and one that commits one row";
    }

    /** The server that answers the requests. */
    private enum ServerKind {
        BARE("bare handler"),
        INSERT("handler with one insert"),
        CARILLON("POST /v1/runs"),
        BATCHED("POST /v1/runs:batch");

        private final String text;

        ServerKind(String text) {
            this.text = text;
        }
    }

    /** One measurement of a server: the load, the CPU time, and the number of statements. */
    private record Measurement(HttpLoadGenerator.LoadResult load, CpuMeter.Used cpu, long statements) {}

    @Override
    public Findings run(WorkloadContext context) throws Exception {
        Findings findings = new Findings();
        Duration time = Duration.ofMillis(context.profile().choose(200, 800, 4_000));
        try (ServersUnderTest servers = new ServersUnderTest(context)) {
            for (ServerKind kind : ServerKind.values()) {
                if (context.firstRound() > 0) break;
                context.progress().report("%s, warming up".formatted(kind.text));
                // The product handles fewer requests per second and has more code, so its compilation takes longer.
                servers.load(kind).run(WARM_UP_CONNECTIONS, time.multipliedBy(kind == ServerKind.CARILLON ? 15 : 3));
            }
            for (int connections : CONNECTIONS) single(context, servers, findings, connections, time);
            batch(context, servers, findings, time);
        }
        return findings;
    }

    /** All servers, each with its own database. They are measured one after another; the others are idle meanwhile. */
    private static final class ServersUnderTest implements AutoCloseable {
        private final BenchDatabase plain;
        private final BenchDatabase own;
        private final HikariDataSource pool;
        private final BareServer bare;
        private final BareServer inserting;
        private final CarillonRestServer carillon;
        private final StatementMeter plainStatements;
        private final StatementMeter ownStatements;

        ServersUnderTest(WorkloadContext context) throws Exception {
            plain = context.server().migrated();
            own = context.server().migrated();
            pool = plain.pool(CarillonRestServer.REQUEST_POOL);
            bare = new BareServer(ANSWER, body -> {});
            AtomicInteger number = new AtomicInteger();
            inserting = new BareServer(ANSWER, body -> {
                try (Connection connection = pool.getConnection()) {
                    RawInserts.insert(connection, number.incrementAndGet());
                }
            });
            carillon = new CarillonRestServer(own);
            plainStatements = new StatementMeter(plain);
            ownStatements = new StatementMeter(own);
            plain.analyzeAndCheckpoint();
        }

        HttpLoadGenerator load(ServerKind kind) {
            if (kind == ServerKind.BATCHED) return carillon.batch(BATCH);
            if (kind == ServerKind.CARILLON) return carillon.single();
            return CarillonRestServer.singleTo((kind == ServerKind.BARE ? bare : inserting).port());
        }

        /** Measures a server. The first requests open connections and prepare statements and are not counted. */
        Measurement measure(ServerKind kind, int connections, Duration time) throws SQLException {
            HttpLoadGenerator load = load(kind);
            StatementMeter statements =
                    kind == ServerKind.CARILLON || kind == ServerKind.BATCHED ? ownStatements : plainStatements;
            load.run(connections, time.dividedBy(5));
            long before = statements.all();
            CpuMeter cpu = CpuMeter.start(own.serverPid());
            HttpLoadGenerator.LoadResult found = load.run(connections, time);
            CpuMeter.Used used = cpu.used();
            return new Measurement(found, used, statements.all() - before);
        }

        @Override
        public void close() throws SQLException {
            carillon.close();
            inserting.close();
            bare.close();
            pool.close();
            plainStatements.close();
            ownStatements.close();
            own.close();
            plain.close();
        }
    }

    private static void single(
            WorkloadContext context, ServersUnderTest servers, Findings findings, int connections, Duration time)
            throws SQLException {
        List<Measurement> bare = new ArrayList<>();
        List<Measurement> insert = new ArrayList<>();
        List<Measurement> ours = new ArrayList<>();
        for (int round = 1; round <= context.rounds(); round++) {
            context.progress().report("%d connections, round %d of %d".formatted(connections, round, context.rounds()));
            bare.add(servers.measure(ServerKind.BARE, connections, time));
            insert.add(servers.measure(ServerKind.INSERT, connections, time));
            ours.add(servers.measure(ServerKind.CARILLON, connections, time));
        }
        double part = rate(ours).median() / rate(insert).median();
        String name = "enqueue against a handler with one insert, %d connections".formatted(connections);
        Row row = connections < SHARING_CONNECTIONS
                ? Row.info(name, FigureText.percent(part), "")
                : Row.judged(name, ">= 80 %", FigureText.percent(part), part >= 0.8);
        findings.add(row.note("%s of the bare handler"
                        .formatted(FigureText.percent(
                                rate(ours).median() / rate(bare).median())))
                .note(cost(ours)));
        addRow(findings, ServerKind.CARILLON, connections, ours);
        addRow(findings, ServerKind.INSERT, connections, insert);
        addRow(findings, ServerKind.BARE, connections, bare);
    }

    private static void batch(WorkloadContext context, ServersUnderTest servers, Findings findings, Duration time)
            throws SQLException {
        List<Measurement> turns = new ArrayList<>();
        for (int round = 1; round <= context.rounds(); round++) {
            context.progress().report("batches, round %d of %d".formatted(round, context.rounds()));
            turns.add(servers.measure(ServerKind.BATCHED, WARM_UP_CONNECTIONS, time));
        }
        double[] runs = turns.stream()
                .mapToDouble(measurement -> measurement.load.perSecond() * BATCH)
                .toArray();
        for (double each : runs) findings.figure("%s, runs a second".formatted(ServerKind.BATCHED.text), each);
        findings.add(Row.info(
                "%s, %d runs each, %d connections".formatted(ServerKind.BATCHED.text, BATCH, WARM_UP_CONNECTIONS),
                FigureText.rate(Samples.of(runs)),
                latency(turns)));
    }

    private static void addRow(Findings findings, ServerKind kind, int connections, List<Measurement> turns) {
        String name = "%s, %d connections".formatted(kind.text, connections);
        for (Measurement measurement : turns) {
            findings.figure(name + ", per second", measurement.load.perSecond());
            findings.figure(name + ", p50 ms", measurement.load.millis().percentile(50));
            findings.figure(name + ", p99 ms", measurement.load.millis().percentile(99));
            findings.figure(name + ", statements each", (double) measurement.statements / measurement.load.requests());
            findings.figure(name + ", us of the JVM each", measurement.cpu.jvm() * 1e6 / measurement.load.requests());
            findings.figure(
                    name + ", us of PostgreSQL each", measurement.cpu.server() * 1e6 / measurement.load.requests());
        }
        findings.add(Row.info(name, FigureText.rate(rate(turns)), latency(turns)));
    }

    private static Samples rate(List<Measurement> turns) {
        return Samples.of(
                turns.stream().map(measurement -> measurement.load.perSecond()).toList());
    }

    private static String latency(List<Measurement> turns) {
        return "p50 %s, p99 %s"
                .formatted(FigureText.millis(percentile(turns, 50)), FigureText.millis(percentile(turns, 99)));
    }

    private static double percentile(List<Measurement> turns, double percent) {
        return Samples.of(turns.stream()
                        .map(measurement -> measurement.load.millis().percentile(percent))
                        .toList())
                .median();
    }

    private static String cost(List<Measurement> turns) {
        Measurement last = turns.get(turns.size() - 1);
        return String.format(
                Locale.ROOT,
                "each %s of client and server + PostgreSQL, %.1f statements",
                last.cpu.each(last.load.requests()),
                (double) last.statements / last.load.requests());
    }
}
