package io.carillon.bench.workload;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.bench.http.BareServer;
import io.carillon.bench.http.HttpLoad;
import io.carillon.bench.measure.CpuMeter;
import io.carillon.bench.measure.Samples;
import io.carillon.bench.ours.OurRest;
import io.carillon.bench.raw.RawInserts;
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

/** Enqueueing over HTTP, beside the same Jetty with a handler that does nothing, and with one that commits one row: what HTTP and what the database allow. */
final class Rest implements Workload {
    private static final List<Integer> CONNECTIONS = List.of(1, 8, 32);
    private static final int WARM = 8;
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

    /** Who answers. */
    private enum Side {
        BARE("bare handler"),
        INSERT("handler with one insert"),
        OURS("POST /v1/runs"),
        BATCHED("POST /v1/runs:batch");

        private final String text;

        Side(String text) {
            this.text = text;
        }
    }

    /** One turn of one side: the load, what it cost, and how many statements the database saw. */
    private record Turn(HttpLoad.Measured load, CpuMeter.Used cpu, long statements) {}

    @Override
    public Findings run(Stage stage) throws Exception {
        Findings findings = new Findings();
        Duration time = Duration.ofMillis(stage.profile().pick(200, 800, 4_000));
        try (Street street = new Street(stage)) {
            for (Side side : Side.values()) {
                if (stage.firstRound() > 0) break;
                stage.progress().say("%s, warming up".formatted(side.text));
                // Fewer requests a second go through more code: it takes longer until all of it is compiled.
                street.load(side).run(WARM, time.multipliedBy(side == Side.OURS ? 15 : 3));
            }
            for (int connections : CONNECTIONS) single(stage, street, findings, connections, time);
            batch(stage, street, findings, time);
        }
        return findings;
    }

    /** All of them side by side, each on a database of its own; they are asked one after the other, and rest meanwhile. */
    private static final class Street implements AutoCloseable {
        private final BenchDatabase plain;
        private final BenchDatabase own;
        private final HikariDataSource pool;
        private final BareServer bare;
        private final BareServer inserting;
        private final OurRest ours;
        private final StatementMeter plainStatements;
        private final StatementMeter ownStatements;

        Street(Stage stage) throws Exception {
            plain = stage.server().migrated();
            own = stage.server().migrated();
            pool = plain.pool(OurRest.REQUEST_POOL);
            bare = new BareServer(ANSWER, body -> {});
            AtomicInteger number = new AtomicInteger();
            inserting = new BareServer(ANSWER, body -> {
                try (Connection connection = pool.getConnection()) {
                    RawInserts.insert(connection, number.incrementAndGet());
                }
            });
            ours = new OurRest(own);
            plainStatements = new StatementMeter(plain);
            ownStatements = new StatementMeter(own);
            plain.settle();
        }

        HttpLoad load(Side side) {
            if (side == Side.BATCHED) return ours.batch(BATCH);
            if (side == Side.OURS) return ours.single();
            return OurRest.sameTo((side == Side.BARE ? bare : inserting).port());
        }

        /** The first requests open connections and prepare statements; they are not counted. */
        Turn turn(Side side, int connections, Duration time) throws SQLException {
            HttpLoad load = load(side);
            StatementMeter statements = side == Side.OURS || side == Side.BATCHED ? ownStatements : plainStatements;
            load.run(connections, time.dividedBy(5));
            long before = statements.all();
            CpuMeter cpu = CpuMeter.start(own.serverPid());
            HttpLoad.Measured found = load.run(connections, time);
            CpuMeter.Used used = cpu.used();
            return new Turn(found, used, statements.all() - before);
        }

        @Override
        public void close() throws SQLException {
            ours.close();
            inserting.close();
            bare.close();
            pool.close();
            plainStatements.close();
            ownStatements.close();
            own.close();
            plain.close();
        }
    }

    private static void single(Stage stage, Street street, Findings findings, int connections, Duration time)
            throws SQLException {
        List<Turn> bare = new ArrayList<>();
        List<Turn> insert = new ArrayList<>();
        List<Turn> ours = new ArrayList<>();
        for (int round = 1; round <= stage.rounds(); round++) {
            stage.progress().say("%d connections, round %d of %d".formatted(connections, round, stage.rounds()));
            bare.add(street.turn(Side.BARE, connections, time));
            insert.add(street.turn(Side.INSERT, connections, time));
            ours.add(street.turn(Side.OURS, connections, time));
        }
        double part = rate(ours).median() / rate(bare).median();
        findings.add(Row.judged(
                        "enqueue against a bare handler, %d connections".formatted(connections),
                        ">= 50 %",
                        Text.percent(part),
                        part >= 0.5)
                .note("%s of the handler with one insert"
                        .formatted(
                                Text.percent(rate(ours).median() / rate(insert).median())))
                .note(cost(ours)));
        tell(findings, Side.OURS, connections, ours);
        tell(findings, Side.INSERT, connections, insert);
        tell(findings, Side.BARE, connections, bare);
    }

    private static void batch(Stage stage, Street street, Findings findings, Duration time) throws SQLException {
        List<Turn> turns = new ArrayList<>();
        for (int round = 1; round <= stage.rounds(); round++) {
            stage.progress().say("batches, round %d of %d".formatted(round, stage.rounds()));
            turns.add(street.turn(Side.BATCHED, WARM, time));
        }
        double[] runs = turns.stream()
                .mapToDouble(turn -> turn.load.perSecond() * BATCH)
                .toArray();
        for (double each : runs) findings.figure("%s, runs a second".formatted(Side.BATCHED.text), each);
        findings.add(Row.info(
                "%s, %d runs each, %d connections".formatted(Side.BATCHED.text, BATCH, WARM),
                Text.rate(Samples.of(runs)),
                latency(turns)));
    }

    private static void tell(Findings findings, Side side, int connections, List<Turn> turns) {
        String name = "%s, %d connections".formatted(side.text, connections);
        for (Turn turn : turns) {
            findings.figure(name + ", per second", turn.load.perSecond());
            findings.figure(name + ", p50 ms", turn.load.millis().percentile(50));
            findings.figure(name + ", p99 ms", turn.load.millis().percentile(99));
            findings.figure(name + ", statements each", (double) turn.statements / turn.load.requests());
            findings.figure(name + ", us of the JVM each", turn.cpu.jvm() * 1e6 / turn.load.requests());
            findings.figure(name + ", us of PostgreSQL each", turn.cpu.server() * 1e6 / turn.load.requests());
        }
        findings.add(Row.info(name, Text.rate(rate(turns)), latency(turns)));
    }

    private static Samples rate(List<Turn> turns) {
        return Samples.of(turns.stream().map(turn -> turn.load.perSecond()).toList());
    }

    private static String latency(List<Turn> turns) {
        return "p50 %s, p99 %s".formatted(Text.millis(percentile(turns, 50)), Text.millis(percentile(turns, 99)));
    }

    private static double percentile(List<Turn> turns, double percent) {
        return Samples.of(turns.stream()
                        .map(turn -> turn.load.millis().percentile(percent))
                        .toList())
                .median();
    }

    private static String cost(List<Turn> turns) {
        Turn last = turns.get(turns.size() - 1);
        return String.format(
                Locale.ROOT,
                "each %s of client and server + PostgreSQL, %.1f statements",
                last.cpu.each(last.load.requests()),
                (double) last.statements / last.load.requests());
    }
}
