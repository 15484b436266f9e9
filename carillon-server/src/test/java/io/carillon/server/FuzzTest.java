package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.HandlerType;
import io.carillon.run.Outcome;
import io.carillon.server.access.KeyText;
import io.carillon.server.store.HouseRepository;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** Requests made at random out of the description of the interface: every answer is one of those declared, and none tells what is inside. */
class FuzzTest {
    private static final Long SEED = Long.getLong("carillon.seed");
    /** Words of SQL, of Java and of the libraries; the requests hold none of them. */
    private static final Pattern INSIDE = Pattern.compile(
            "(?i)SQLSTATE|\\bSELECT\\b|\\bINSERT INTO\\b|\\bpg_|postgresql|jdbc|hikari|jackson|jetty|StreamRead|Exception|java\\.|io\\.carillon|\\bat [a-z]+\\.[a-z]+|`");
    /** What the door refuses before it is known which operation is meant. */
    private static final Set<String> AT_THE_DOOR =
            Set.of("no-such-path", "method-not-allowed", "malformed-request", "malformed-url");

    @RegisterExtension
    static final Served SERVED = new Served(
            builder -> builder.handleReturning(HandlerType.of("a", JsonNode.class), (note, run) -> note)
                    .handleReturning(HandlerType.of("word", JsonNode.class), (note, run) -> Outcome.rejected("no")),
            server -> server.quota(new HouseRepository.Quota(1e9, null, null)));

    private final List<Contract.Operation> operations = Contract.the().operations();
    private final Map<Integer, Integer> statuses = new TreeMap<>();
    private final Map<String, Integer> codes = new TreeMap<>();
    /** One of each kind: the others are most likely the same. */
    private final Map<String, String> faults = new TreeMap<>();

    private Fuzz.World world;

    @BeforeEach
    void something_to_speak_of() {
        String admin = SERVED.bootstrap();
        String foreign = SERVED.one("SELECT count(*) FROM carillon.project WHERE project = 'foreign'")
                        .equals("0")
                ? SERVED.project("foreign")
                : admin;
        String put = "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"handler\":\"a\"}}";
        SERVED.put(admin, "/v1/schedules/there", put);
        SERVED.put(foreign, "/v1/schedules/elsewhere", put);
        List<String> runs = new ArrayList<>();
        for (String key : List.of(admin, foreign))
            for (String handler : List.of("a", "word"))
                for (String after : List.of("0s", "1h"))
                    runs.add(SERVED.post(
                                    key,
                                    "/v1/runs",
                                    "{\"target\":{\"handler\":\"%s\"},\"after\":\"%s\"}".formatted(handler, after))
                            .at("/run"));
        SERVED.post(admin, "/v1/tick", "{\"budget\":\"5s\"}").is(200);
        List<String> names = new ArrayList<>(List.of("there", "elsewhere", "word", "nobody", "foreign"));
        for (int i = 0; i < 3; i++)
            names.add(KeyText.parse(SERVED.key("read")).orElseThrow().id());
        List<String> keys = List.of(
                admin, SERVED.key("read"), SERVED.key("enqueue"), SERVED.key("manage"), foreign, SERVED.key("admin"));
        world = new Fuzz.World(keys, names, runs, new ArrayList<>(List.of("AAAA")));
    }

    @Test
    void hundreds_of_odd_requests_are_answered_as_declared() {
        check(600);
    }

    @Test
    @Tag("slow")
    void ten_thousand_odd_requests_are_answered_as_declared() {
        check(10_000);
    }

    private void check(int requests) {
        long seed = SEED == null ? new Random().nextLong() : SEED;
        System.out.println("fuzz seed " + seed + ", repeat with -Dcarillon.seed=" + seed);
        Fuzz fuzz = new Fuzz(new Random(seed), world);
        for (int i = 0; i < requests; i++) {
            Contract.Operation operation = operations.get(i % operations.size());
            RawHttp.Request request = fuzz.request(operation);
            Served.Reply reply = RawHttp.send(SERVED.server().port(), request);
            try {
                judge(operation, request, reply, "seed " + seed + ", request " + i);
            } catch (AssertionError wrong) {
                faults.putIfAbsent(operation + " " + reply.status(), String.valueOf(wrong.getMessage()));
            }
            learn(reply);
        }
        assertThat(faults.values()).isEmpty();
        System.out.println("fuzz answers " + statuses + " " + codes);
        assertThat(statuses.keySet()).as("of every kind").contains(200, 201, 400, 403, 404, 422);
        SERVED.get(SERVED.bootstrap(), "/v1/stats").is(200);
    }

    private void judge(Contract.Operation operation, RawHttp.Request request, Served.Reply reply, String which) {
        String told = "%s: %s\n%s\nanswered %d %s".formatted(which, operation, request, reply.status(), reply.text());
        statuses.merge(reply.status(), 1, Integer::sum);
        assertThat(reply.status()).as(told).isBetween(200, 499);
        boolean ofMachine =
                operation.path().equals("/metrics") || operation.path().endsWith("openapi.json");
        if (!ofMachine || reply.status() >= 400)
            assertThat(INSIDE.matcher(reply.text()).results().map(MatchResult::group))
                    .as(told)
                    // What the client wrote itself, such as the name of a field, may be said back to it.
                    .allMatch(request.toString()::contains);
        boolean problem = reply.header("Content-Type").orElse("").startsWith("application/problem+json");
        if (reply.status() >= 400 && problem) codes.merge(reply.status() + " " + reply.code(), 1, Integer::sum);
        String method = request.line().split(" ", 2)[0];
        if (method.equals("HEAD")) return;
        if (reply.status() >= 400 && problem && AT_THE_DOOR.contains(reply.code())) {
            assertThat(Contract.the().faultsOfProblem(reply.text())).as(told).isEmpty();
            return;
        }
        String path = request.line().split(" ", 3)[1];
        Contract.Operation asked = Contract.the().find(method, path).orElse(operation);
        assertThat(Contract.the()
                        .faults(
                                asked,
                                reply.status(),
                                reply.header("Content-Type").orElse(""),
                                reply.text()))
                .as(told)
                .isEmpty();
    }

    /** Cursors and runs of answers are used in later requests, of the same list and of others. */
    private void learn(Served.Reply reply) {
        if (reply.status() >= 300 || !reply.header("Content-Type").orElse("").startsWith("application/json")) return;
        String next = reply.at("/next");
        if (!next.isEmpty()) replace(world.cursors(), next);
        String run = reply.at("/run");
        if (run.startsWith("run_")) replace(world.runs(), run);
    }

    private static void replace(List<String> known, String fresh) {
        if (known.size() >= 30) known.remove(0);
        known.add(fresh);
    }
}
