package io.carillon.bench.workload;

import io.carillon.bench.child.ChildProcess;
import io.carillon.bench.child.Role;
import io.carillon.bench.http.HostileClient;
import io.carillon.bench.http.JsonCalls;
import io.carillon.bench.measure.MeasureException;
import io.carillon.bench.measure.Samples;
import io.carillon.bench.measure.Waiting;
import io.carillon.bench.ours.SharedServer;
import io.carillon.bench.report.FigureText;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * Measures the requests and webhooks of one project, alone and beside another project that sends slow bodies, webhooks
 * to names that are not resolved, bulk actions without end and expensive previews, and opens event streams, all at
 * once.
 */
final class HostileProject implements Workload {
    private static final int BULK_RUNS = 20_000;
    private static final int SCHEDULES = 50;
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    /** What the server has answered when the attack is complete. */
    private static final List<String> ATTACKS = List.of(
            "body opened",
            "stream opened",
            "slow name 201",
            "test 200",
            "bulk 202",
            "preview 200",
            "timeline 200",
            "list 200");

    @Override
    public String name() {
        return "hostile";
    }

    @Override
    public String about() {
        return "requests and webhooks of one project, alone and beside one that uses all it can";
    }

    /** Times of one round in milliseconds. */
    private record Times(Samples requests, Samples deliveries) {}

    @Override
    public Findings run(WorkloadContext context) throws Exception {
        Findings findings = new Findings();
        List<Times> alone = new ArrayList<>();
        List<Times> beside = new ArrayList<>();
        int calls = context.profile().choose(20, 250, 500);
        try (BenchDatabase database = context.server().migrated();
                SharedServer server = new SharedServer(database)) {
            GoodProject good = new GoodProject(server);
            String hostileKey = server.createProject("hostile");
            prepare(new JsonCalls(server.port(), hostileKey), context.profile().choose(1_000, BULK_RUNS, BULK_RUNS));
            database.analyzeAndCheckpoint();
            good.measure(calls); // warm-up
            for (int round = 0; round < context.rounds(); round++) {
                context.progress().report("round %d of %d of %d calls".formatted(round + 1, context.rounds(), calls));
                alone.add(good.measure(calls));
                try (ChildProcess hostile = ChildProcess.startWithLowPriority(Role.HOSTILE, "-Xmx256m")) {
                    hostile.ask(
                            TIMEOUT,
                            "attack",
                            Integer.toString(server.port()),
                            hostileKey,
                            server.receiverUrl("%s.slow.example"));
                    Waiting.require(
                            "The attack",
                            () -> ATTACKS.stream().allMatch(String.join("", hostile.ask(TIMEOUT, "answers"))::contains),
                            TIMEOUT.multipliedBy(2));
                    Waiting.sleep(Duration.ofSeconds(context.profile().choose(0, 5, 5)));
                    beside.add(good.measure(calls));
                    context.progress().report("the hostile project: " + hostile.ask(TIMEOUT, "answers"));
                }
                Waiting.sleep(Duration.ofSeconds(context.profile().choose(0, 5, 5)));
            }
            judge(
                    findings,
                    "requests",
                    alone.stream().map(Times::requests).toList(),
                    beside.stream().map(Times::requests).toList());
            judge(
                    findings,
                    "webhooks",
                    alone.stream().map(Times::deliveries).toList(),
                    beside.stream().map(Times::deliveries).toList());
            long failed = failedAttempts(database);
            findings.add(Row.judged("failed attempts of webhooks", "0", Long.toString(failed), failed == 0));
        }
        return findings;
    }

    private static void judge(Findings findings, String what, List<Samples> alone, List<Samples> beside) {
        double before = p99(alone);
        double during = p99(beside);
        for (Samples samples : alone) findings.figure(what + " alone, p99 ms", samples.percentile(99));
        for (Samples samples : beside) findings.figure(what + " beside, p99 ms", samples.percentile(99));
        findings.add(Row.judged(
                        what + ", p99",
                        "<= 2x alone",
                        "%.1fx: %s against %s"
                                .formatted(during / before, FigureText.millis(during), FigureText.millis(before)),
                        during <= 2 * before)
                .note("medians %s against %s"
                        .formatted(FigureText.millis(medianOf(beside)), FigureText.millis(medianOf(alone)))));
    }

    private static double p99(List<Samples> rounds) {
        return Samples.of(rounds.stream().map(round -> round.percentile(99)).toList())
                .median();
    }

    private static double medianOf(List<Samples> rounds) {
        return Samples.of(rounds.stream().map(Samples::median).toList()).median();
    }

    /** Returns how many attempts of the measured project did not succeed. */
    private static long failedAttempts(BenchDatabase database) throws SQLException {
        try (Connection connection = database.connect();
                Statement statement = connection.createStatement();
                ResultSet rows =
                        statement.executeQuery("SELECT count(*) FROM carillon.attempt WHERE project = 'good'")) {
            rows.next();
            return rows.getLong(1);
        }
    }

    /** Stores the runs that the bulk actions change, and the schedules of the timeline. */
    private static void prepare(JsonCalls hostile, int runs) {
        String items = String.join(",", Collections.nCopies(500, "{}"));
        for (int stored = 0; stored < runs; stored += 500)
            hostile.post(
                            "/v1/runs:batch",
                            "{\"target\":{\"handler\":\"bulk\"},\"after\":\"24h\",\"runs\":[%s]}".formatted(items))
                    .require(201);
        for (int i = 0; i < SCHEDULES; i++)
            hostile.put(
                            "/v1/schedules/s" + i,
                            "{\"when\":%s,\"target\":{\"handler\":\"bulk\"}}".formatted(HostileClient.EXPENSIVE))
                    .require(201);
    }

    /** The project that is measured. */
    private static final class GoodProject {
        private final Random random = new Random(42);
        private final SharedServer server;
        private final JsonCalls calls;
        private int next;

        GoodProject(SharedServer server) {
            this.server = server;
            this.calls = new JsonCalls(server.port(), server.createProject("good"));
            calls.post(
                            "/v1/endpoints",
                            "{\"name\":\"shop\",\"url\":\"%s\"}".formatted(server.receiverUrl("shop.example")))
                    .require(201);
            calls.put("/v1/schedules/daily", "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"endpoint\":\"shop\"}}");
        }

        Times measure(int count) {
            List<Double> requests = new ArrayList<>();
            List<Double> deliveries = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                int number = next++;
                long began = System.nanoTime();
                String body = "{\"target\":{\"endpoint\":\"shop\"},\"payload\":{\"number\":%d}}".formatted(number);
                requests.add(timed(() -> calls.post("/v1/runs", body).require(201)));
                requests.add(timed(() -> calls.get("/v1/runs?limit=20").require(200)));
                requests.add(timed(() -> calls.get("/v1/schedules?limit=20").require(200)));
                if (!Waiting.await(() -> server.hasArrived(number), TIMEOUT))
                    throw new MeasureException("Webhook %d did not arrive.".formatted(number));
                deliveries.add((server.arrivedNanos(number) - began) / 1e6);
                Waiting.sleep(Duration.ofNanos(2_000_000L + random.nextInt(5_000_000)));
            }
            return new Times(Samples.of(requests), Samples.of(deliveries));
        }

        private static double timed(Runnable call) {
            long began = System.nanoTime();
            call.run();
            return (System.nanoTime() - began) / 1e6;
        }
    }
}
