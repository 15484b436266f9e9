package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.HandlerType;
import io.carillon.run.Outcome;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** Runs and queues over HTTP: enqueued, executed, read, changed and rejected. */
class RunsTest {
    /** The payload of the handlers in this test. */
    record Note(String text) {}

    private static final HandlerType<Note> ECHO = HandlerType.of("echo", Note.class);
    private static final HandlerType<Note> NEVER = HandlerType.of("never", Note.class);

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer(
            builder -> builder.handleReturning(ECHO, (note, run) -> note)
                    .handleReturning(NEVER, (note, run) -> Outcome.rejected("no")),
            server -> server);

    private static String key() {
        return SERVER.bootstrap();
    }

    private static String enqueue(String handler, String more) {
        return SERVER.post(
                        key(),
                        "/v1/runs",
                        "{\"target\":{\"handler\":\"%s\"},\"payload\":{\"text\":\"hi\"}%s}".formatted(handler, more))
                .requireStatus(201)
                .at("/run");
    }

    private static void runDue() {
        assertThat(SERVER.post(key(), "/v1/run-due", "{\"budget\":\"10s\"}")
                        .requireStatus(200)
                        .json()
                        .has("processed"))
                .isTrue();
    }

    @Test
    void is_enqueued_executed_and_shown_with_its_result() {
        String run = enqueue("echo", "");
        assertThat(SERVER.get(key(), "/v1/runs/" + run).requireStatus(200).at("/state"))
                .isEqualTo("waiting");
        runDue();
        RestTestServer.Reply ended = SERVER.get(key(), "/v1/runs/" + run).requireStatus(200);
        assertThat(ended.at("/state")).isEqualTo("succeeded");
        assertThat(ended.at("/result/text")).isEqualTo("hi");
        assertThat(SERVER.get(key(), "/v1/runs/" + run + "/attempts")
                        .requireStatus(200)
                        .json()
                        .path("items"))
                .isEmpty();
        assertThat(SERVER.get(key(), "/v1/runs/" + run + "/explain")
                        .requireStatus(200)
                        .at("/summary"))
                .contains("succeeded");
        assertThat(SERVER.post(key(), "/v1/runs/" + run + "/cancel", null)
                        .requireStatus(409)
                        .code())
                .isEqualTo("run-ended");
        assertThat(SERVER.post(key(), "/v1/runs/" + run + "/redrive", null)
                        .requireStatus(409)
                        .code())
                .isEqualTo("run-not-dead");
    }

    @Test
    void is_executed_by_a_request_if_it_is_due() {
        String run = enqueue("echo", "");
        String later = enqueue("echo", ",\"after\":\"1h\"");
        String rejected = enqueue("never", "");

        RestTestServer.Reply executed = execute(run).requireStatus(200);
        assertThat(executed.at("/result")).isEqualTo("executed");
        assertThat(executed.at("/state")).isEqualTo("succeeded");
        assertThat(executed.json().path("failed").booleanValue(true)).isFalse();
        assertThat(execute(rejected).requireStatus(200).json().path("failed").booleanValue(false))
                .isTrue();
        assertThat(execute(run).requireStatus(200).at("/result")).isEqualTo("ended");
        RestTestServer.Reply waits = execute(later).requireStatus(200);
        assertThat(waits.at("/result")).isEqualTo("not-due");
        assertThat(waits.at("/readyAt"))
                .isEqualTo(SERVER.get(key(), "/v1/runs/" + later).at("/dueAt"));
        SERVER.post(key(), "/v1/queues/echo/pause", "{\"reason\":\"repairs\"}").requireStatus(200);
        RestTestServer.Reply blocked = execute(enqueue("echo", "")).requireStatus(200);
        assertThat(blocked.at("/result")).isEqualTo("not-ready");
        assertThat(blocked.at("/reason")).contains("repairs");
        SERVER.post(key(), "/v1/queues/echo/resume", null).requireStatus(200);
        assertThat(SERVER.get(key(), "/v1/runs/" + run).at("/result/text")).isEqualTo("hi");
    }

    @Test
    void is_not_executed_by_a_server_without_its_handler_or_by_a_key_that_may_only_enqueue() {
        String run = enqueue("elsewhere", "");
        RestTestServer.Reply refused = execute(run).requireStatus(422);
        assertThat(refused.code()).isEqualTo("unknown-handler");
        assertThat(refused.text()).contains("elsewhere", "in a process that has the handler");
        assertThat(SERVER.get(key(), "/v1/runs/" + run).at("/state")).isEqualTo("waiting");

        String enqueuer = SERVER.post(key(), "/v1/keys", "{\"name\":\"e\",\"scopes\":[\"enqueue\"]}")
                .requireStatus(201)
                .at("/key");
        SERVER.post(enqueuer, "/v1/runs/" + run + "/execute", null).requireStatus(403);
        execute("run_00000000000000000000000000").requireStatus(404);
    }

    private static RestTestServer.Reply execute(String run) {
        return SERVER.post(key(), "/v1/runs/" + run + "/execute", null);
    }

    @Test
    void waits_is_moved_and_cancelled() {
        String run = enqueue("echo", ",\"after\":\"1h\",\"priority\":\"high\",\"queue\":\"later\"");
        assertThat(SERVER.post(key(), "/v1/runs/" + run + "/reschedule", "{\"at\":\"2999-01-01T00:00:00Z\"}")
                        .requireStatus(200)
                        .at("/dueAt"))
                .isEqualTo("2999-01-01T00:00:00Z");
        assertThat(SERVER.get(key(), "/v1/runs/" + run + "/explain")
                        .requireStatus(200)
                        .at("/state"))
                .isEqualTo("waiting");
        assertThat(SERVER.post(key(), "/v1/runs/" + run + "/cancel", "{\"reason\":\"not needed\"}")
                        .requireStatus(200)
                        .at("/state"))
                .isEqualTo("cancelled");
        assertThat(SERVER.get(key(), "/v1/runs/" + run).at("/reason")).isEqualTo("not needed");
        SERVER.post(key(), "/v1/runs/" + run + "/reschedule", "{\"at\":\"2999-01-01T00:00:00Z\"}")
                .requireStatus(409);
        String unknown = "run_00000000000000000000000000";
        SERVER.post(key(), "/v1/runs/" + unknown + "/cancel", null).requireStatus(404);
        SERVER.post(key(), "/v1/runs/" + unknown + "/redrive", null).requireStatus(404);
        SERVER.get(key(), "/v1/runs/" + unknown + "/attempts").requireStatus(404);
        SERVER.get(key(), "/v1/runs/no-id/explain").requireStatus(404);
    }

    @Test
    void a_dead_run_is_redriven() {
        String run = enqueue("never", "");
        runDue();
        assertThat(SERVER.get(key(), "/v1/runs/" + run).at("/state")).isEqualTo("dead");
        assertThat(Integer.parseInt(
                        SERVER.get(key(), "/v1/stats").requireStatus(200).at("/dead")))
                .isPositive();
        String again = SERVER.post(key(), "/v1/runs/" + run + "/redrive", null)
                .requireStatus(201)
                .at("/run");
        assertThat(SERVER.get(key(), "/v1/runs/" + again).at("/parent")).isEqualTo(run);
        SERVER.post(key(), "/v1/runs/" + run + "/redrive", null).requireStatus(409);
    }

    @Test
    void a_unique_key_admits_one_run() {
        String body = "{\"target\":{\"handler\":\"echo\"},\"key\":\"only-one\",\"after\":\"1h\"}";
        String run = SERVER.post(key(), "/v1/runs", body).requireStatus(201).at("/run");
        RestTestServer.Reply second = SERVER.post(key(), "/v1/runs", body).requireStatus(200);
        assertThat(second.at("/run")).isEqualTo(run);
        assertThat(second.at("/enqueued")).isEqualTo("false");
    }

    @Test
    void an_idempotency_key_makes_one_run_and_one_answer() {
        String body = "{\"target\":{\"handler\":\"echo\"},\"after\":\"1h\"}";
        RestTestServer.Reply first = SERVER.send(key(), "POST", "/v1/runs", body, "Idempotency-Key", "k-1")
                .requireStatus(201);
        List<RestTestServer.Reply> more = IntStream.range(0, 8)
                .parallel()
                .mapToObj(i -> SERVER.send(key(), "POST", "/v1/runs", body, "Idempotency-Key", "k-1"))
                .toList();
        assertThat(more).allSatisfy(reply -> {
            assertThat(reply.requireStatus(201).text()).isEqualTo(first.text());
            assertThat(reply.header("Idempotency-Replayed")).contains("true");
        });
        assertThat(SERVER.send(key(), "POST", "/v1/runs", body.replace("1h", "2h"), "Idempotency-Key", "k-1")
                        .requireStatus(422)
                        .code())
                .isEqualTo("idempotency-key-reused");
        // A rejected request does not use up its key.
        SERVER.send(key(), "POST", "/v1/runs", body.replace("1h", "soon"), "Idempotency-Key", "k-2")
                .requireStatus(422);
        SERVER.send(key(), "POST", "/v1/runs", body, "Idempotency-Key", "k-2").requireStatus(201);
        Set<String> runs = new HashSet<>();
        IntStream.range(0, 8)
                .parallel()
                .mapToObj(i -> SERVER.send(key(), "POST", "/v1/runs", body, "Idempotency-Key", "k-3")
                        .requireStatus(201)
                        .at("/run"))
                .toList()
                .forEach(runs::add);
        assertThat(runs).hasSize(1);
    }

    @Test
    void a_batch_is_stored_whole_or_not_at_all() {
        RestTestServer.Reply made = SERVER.post(
                        key(),
                        "/v1/runs:batch",
                        "{\"target\":{\"handler\":\"echo\"},\"queue\":\"batch\",\"after\":\"1h\","
                                + "\"runs\":[{\"payload\":1},{\"payload\":[2]},{}]}")
                .requireStatus(201);
        assertThat(made.json().path("items")).hasSize(3);
        assertThat(SERVER.post(
                                key(),
                                "/v1/runs:batch",
                                "{\"target\":{\"handler\":\"echo\"},\"queue\":\"batch\",\"runs\":[{\"payload\":1},"
                                        + "{\"paylod\":2}]}")
                        .requireStatus(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/runs/1/paylod");
        SERVER.post(key(), "/v1/runs:batch", "{\"target\":{\"handler\":\"echo\"},\"runs\":[]}")
                .requireStatus(422);
        assertThat(SERVER.get(key(), "/v1/runs?queue=batch").json().path("items"))
                .hasSize(3);
    }

    @Test
    void pages_show_each_run_once_while_runs_come_and_go() {
        for (int i = 0; i < 25; i++) enqueue("echo", ",\"queue\":\"paged\",\"after\":\"1h\"");
        Set<String> seen = new HashSet<>();
        String path = "/v1/runs?queue=paged&limit=4";
        RestTestServer.Reply page = SERVER.get(key(), path).requireStatus(200);
        int pages = 1;
        while (true) {
            for (JsonNode run : page.json().path("items"))
                assertThat(seen.add(run.path("id").stringValue(""))).isTrue();
            if (!page.json().has("next")) break;
            // A run is added at the front, and a run that was already listed ends: neither moves the other runs.
            enqueue("echo", ",\"queue\":\"paged\",\"after\":\"1h\"");
            SERVER.post(key(), "/v1/runs/" + seen.iterator().next() + "/cancel", null);
            page = SERVER.get(key(), path + "&cursor=" + page.at("/next")).requireStatus(200);
            pages++;
        }
        assertThat(seen).hasSize(25);
        assertThat(pages).isEqualTo(7);
    }

    @Test
    void filters_take_what_looks_like_sql_literally() {
        for (String value : List.of("%25", "a'b", "_", "\u202e", "%22%3B--"))
            assertThat(SERVER.get(
                                    key(),
                                    "/v1/runs?handler="
                                            + java.net.URLEncoder.encode(
                                                    value, java.nio.charset.StandardCharsets.UTF_8))
                            .requireStatus(200)
                            .json()
                            .path("items"))
                    .isEmpty();
        SERVER.get(key(), "/v1/runs?state=dead&handler=never").requireStatus(200);
        SERVER.get(key(), "/v1/runs?state=odd").requireStatus(400);
        SERVER.get(key(), "/v1/runs?queue=NO").requireStatus(400);
        SERVER.get(key(), "/v1/runs?schedule=missing").requireStatus(404);
    }

    @Test
    void queues_are_limited_paused_and_shown() {
        enqueue("echo", ",\"queue\":\"mail\",\"after\":\"1h\"");
        RestTestServer.Reply limited = SERVER.put(
                        key(), "/v1/queues/mail/limits", "{\"maxRunning\":3,\"perSecond\":2.5}")
                .requireStatus(200);
        assertThat(limited.at("/maxRunning")).isEqualTo("3");
        assertThat(limited.at("/waiting")).isEqualTo("1");
        assertThat(SERVER.post(key(), "/v1/queues/mail/pause", "{\"reason\":\"quiet\"}")
                        .requireStatus(200)
                        .at("/paused/reason"))
                .isEqualTo("quiet");
        assertThat(SERVER.post(key(), "/v1/queues/mail/resume", null)
                        .requireStatus(200)
                        .json()
                        .has("paused"))
                .isFalse();
        assertThat(SERVER.put(key(), "/v1/queues/mail/limits", "{}")
                        .requireStatus(200)
                        .json()
                        .has("maxRunning"))
                .isFalse();
        assertThat(SERVER.get(key(), "/v1/queues")
                        .requireStatus(200)
                        .json()
                        .path("items")
                        .size())
                .isPositive();
        SERVER.get(key(), "/v1/queues/mail").requireStatus(200);
        SERVER.get(key(), "/v1/queues/nothing").requireStatus(404);
        SERVER.post(key(), "/v1/queues/nothing/resume", null).requireStatus(404);
        SERVER.put(key(), "/v1/queues/mail/limits", "{\"maxRunning\":0}").requireStatus(422);
    }

    @Test
    void odd_numbers_come_back_as_they_were() {
        String payload = "{\"big\":12345678901234567890123,\"huge\":1E+400,\"small\":1.10,\"text\":\"ü\u0001\"}";
        SERVER.put(
                        key(),
                        "/v1/schedules/odd",
                        "{\"when\":{\"once\":\"2999-01-01T00:00:00Z\"},\"target\":{\"handler\":\"a\"},\"payload\":%s}"
                                .formatted(payload.replace("\u0001", "\\u0001")))
                .requireStatus(201);
        String text = SERVER.get(key(), "/v1/schedules/odd").requireStatus(200).text();
        assertThat(text).contains("12345678901234567890123", "1E+400", "1.10");
    }
}
