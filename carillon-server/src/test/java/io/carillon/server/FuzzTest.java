package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.HandlerType;
import io.carillon.run.Outcome;
import io.carillon.server.access.PlaintextApiKey;
import io.carillon.server.openapi.OpenApiDescription;
import io.carillon.server.store.ProjectRepository;
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

/** Random requests generated from the API description: every response is declared, and none reveals internals. */
class FuzzTest {
    private static final Long SEED = Long.getLong("carillon.seed");
    /** Words of SQL, Java and the libraries. The requests do not contain them. */
    private static final Pattern INTERNAL_WORDS = Pattern.compile("(?i)SQLSTATE|\\bSELECT\\b|\\bINSERT"
            + " INTO\\b|\\bpg_|postgresql|jdbc|hikari|jackson|jetty|StreamRead|Exception|java\\.|io\\.carillon|"
            + "\\bat [a-z]+\\.[a-z]+|`");
    /** Problem codes of requests that are rejected before the operation is known. */
    private static final Set<String> BEFORE_ROUTING =
            Set.of("no-such-path", "method-not-allowed", "malformed-request", "malformed-url");

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer(
            builder -> builder.handleReturning(HandlerType.of("a", JsonNode.class), (note, run) -> note)
                    .handleReturning(HandlerType.of("word", JsonNode.class), (note, run) -> Outcome.rejected("no")),
            server -> server.quota(new ProjectRepository.Quota(1e9, null, null, null, null, null, null)));

    private final List<OpenApiDescription.Operation> operations =
            OpenApiDescription.instance().operations();
    private final Map<Integer, Integer> statuses = new TreeMap<>();
    private final Map<String, Integer> codes = new TreeMap<>();
    /** One example per kind of failure, because the others usually have the same cause. */
    private final Map<String, String> faults = new TreeMap<>();

    private RequestFuzzer.FuzzInputs inputs;

    @BeforeEach
    void create_sample_data() {
        String admin = SERVER.bootstrap();
        String foreign = SERVER.query("SELECT count(*) FROM carillon.project WHERE project = 'foreign'")
                        .text()
                        .equals("0")
                ? SERVER.createProject("foreign")
                : admin;
        String put = "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"handler\":\"a\"}}";
        SERVER.put(admin, "/v1/schedules/there", put);
        SERVER.put(foreign, "/v1/schedules/elsewhere", put);
        List<String> runs = new ArrayList<>();
        for (String key : List.of(admin, foreign))
            for (String handler : List.of("a", "word"))
                for (String after : List.of("0s", "1h"))
                    runs.add(SERVER.post(
                                    key,
                                    "/v1/runs",
                                    "{\"target\":{\"handler\":\"%s\"},\"after\":\"%s\"}".formatted(handler, after))
                            .at("/run"));
        SERVER.post(admin, "/v1/run-due", "{\"budget\":\"5s\"}").requireStatus(200);
        List<String> names = new ArrayList<>(List.of("there", "elsewhere", "word", "unknown", "foreign"));
        for (int i = 0; i < 3; i++)
            names.add(PlaintextApiKey.parse(SERVER.createKey("read"))
                    .orElseThrow()
                    .id());
        List<String> keys = List.of(
                admin,
                SERVER.createKey("read"),
                SERVER.createKey("enqueue"),
                SERVER.createKey("manage"),
                foreign,
                SERVER.createKey("admin"));
        inputs = new RequestFuzzer.FuzzInputs(keys, names, runs, new ArrayList<>(List.of("AAAA")));
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
        RequestFuzzer requestFuzzer = new RequestFuzzer(new Random(seed), inputs);
        for (int i = 0; i < requests; i++) {
            OpenApiDescription.Operation operation = operations.get(i % operations.size());
            RawHttp.Request request = requestFuzzer.request(operation);
            RestTestServer.Reply reply = RawHttp.send(SERVER.server().port(), request);
            try {
                checkReply(operation, request, reply, "seed " + seed + ", request " + i);
            } catch (AssertionError wrong) {
                faults.putIfAbsent(operation + " " + reply.status(), String.valueOf(wrong.getMessage()));
            }
            collectValues(reply);
        }
        assertThat(faults.values()).isEmpty();
        System.out.println("fuzz answers " + statuses + " " + codes);
        assertThat(statuses.keySet()).as("statuses").contains(200, 201, 400, 403, 404, 422);
        SERVER.get(SERVER.bootstrap(), "/v1/stats").requireStatus(200);
    }

    private void checkReply(
            OpenApiDescription.Operation operation, RawHttp.Request request, RestTestServer.Reply reply, String which) {
        String message =
                "%s: %s\n%s\nanswered %d %s".formatted(which, operation, request, reply.status(), reply.text());
        statuses.merge(reply.status(), 1, Integer::sum);
        assertThat(reply.status()).as(message).isBetween(200, 499);
        boolean ofMachine =
                operation.path().equals("/metrics") || operation.path().endsWith("openapi.json");
        if (!ofMachine || reply.status() >= 400)
            assertThat(INTERNAL_WORDS.matcher(reply.text()).results().map(MatchResult::group))
                    .as(message)
                    // The response may repeat text of the request, such as the name of a field.
                    .allMatch(request.toString()::contains);
        boolean problem = reply.header("Content-Type").orElse("").startsWith("application/problem+json");
        if (reply.status() >= 400 && problem) codes.merge(reply.status() + " " + reply.code(), 1, Integer::sum);
        String method = request.line().split(" ", 2)[0];
        if (method.equals("HEAD")) return;
        if (reply.status() >= 400 && problem && BEFORE_ROUTING.contains(reply.code())) {
            assertThat(OpenApiDescription.instance().problemViolations(reply.text()))
                    .as(message)
                    .isEmpty();
            return;
        }
        String path = request.line().split(" ", 3)[1];
        OpenApiDescription.Operation asked =
                OpenApiDescription.instance().find(method, path).orElse(operation);
        assertThat(OpenApiDescription.instance()
                        .violations(
                                asked,
                                reply.status(),
                                reply.header("Content-Type").orElse(""),
                                reply.text()))
                .as(message)
                .isEmpty();
    }

    /** Later requests use the cursors and run ids of this response, for the same list and for others. */
    private void collectValues(RestTestServer.Reply reply) {
        if (reply.status() >= 300 || !reply.header("Content-Type").orElse("").startsWith("application/json")) return;
        String next = reply.at("/next");
        if (!next.isEmpty()) replace(inputs.cursors(), next);
        String run = reply.at("/run");
        if (run.startsWith("run_")) replace(inputs.runs(), run);
    }

    private static void replace(List<String> known, String fresh) {
        if (known.size() >= 30) known.remove(0);
        known.add(fresh);
    }
}
