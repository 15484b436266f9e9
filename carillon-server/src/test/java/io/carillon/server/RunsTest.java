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

/** Runs and queues over HTTP: enqueued, executed by a tick, read back, changed and broken. */
class RunsTest {
    /** What the handlers of this test are given. */
    record Note(String text) {}

    private static final HandlerType<Note> ECHO = HandlerType.of("echo", Note.class);
    private static final HandlerType<Note> NEVER = HandlerType.of("never", Note.class);

    @RegisterExtension
    static final Served SERVED = new Served(
            builder -> builder.handleReturning(ECHO, (note, run) -> note)
                    .handleReturning(NEVER, (note, run) -> Outcome.rejected("no")),
            server -> server);

    private static String key() {
        return SERVED.bootstrap();
    }

    private static String enqueue(String handler, String more) {
        return SERVED.post(
                        key(),
                        "/v1/runs",
                        "{\"target\":{\"handler\":\"%s\"},\"payload\":{\"text\":\"hi\"}%s}".formatted(handler, more))
                .is(201)
                .at("/run");
    }

    private static void tick() {
        assertThat(SERVED.post(key(), "/v1/tick", "{\"budget\":\"10s\"}")
                        .is(200)
                        .json()
                        .has("processed"))
                .isTrue();
    }

    @Test
    void is_enqueued_executed_and_shown_with_its_result() {
        String run = enqueue("echo", "");
        assertThat(SERVED.get(key(), "/v1/runs/" + run).is(200).at("/state")).isEqualTo("waiting");
        tick();
        Served.Reply ended = SERVED.get(key(), "/v1/runs/" + run).is(200);
        assertThat(ended.at("/state")).isEqualTo("succeeded");
        assertThat(ended.at("/result/text")).isEqualTo("hi");
        assertThat(SERVED.get(key(), "/v1/runs/" + run + "/attempts")
                        .is(200)
                        .json()
                        .path("items"))
                .isEmpty();
        assertThat(SERVED.get(key(), "/v1/runs/" + run + "/explain").is(200).at("/summary"))
                .contains("succeeded");
        assertThat(SERVED.post(key(), "/v1/runs/" + run + "/cancel", null)
                        .is(409)
                        .code())
                .isEqualTo("run-ended");
        assertThat(SERVED.post(key(), "/v1/runs/" + run + "/redrive", null)
                        .is(409)
                        .code())
                .isEqualTo("run-not-dead");
    }

    @Test
    void waits_is_moved_and_cancelled() {
        String run = enqueue("echo", ",\"after\":\"1h\",\"priority\":\"high\",\"queue\":\"later\"");
        assertThat(SERVED.post(key(), "/v1/runs/" + run + "/reschedule", "{\"at\":\"2999-01-01T00:00:00Z\"}")
                        .is(200)
                        .at("/dueAt"))
                .isEqualTo("2999-01-01T00:00:00Z");
        assertThat(SERVED.get(key(), "/v1/runs/" + run + "/explain").is(200).at("/state"))
                .isEqualTo("waiting");
        assertThat(SERVED.post(key(), "/v1/runs/" + run + "/cancel", "{\"reason\":\"not needed\"}")
                        .is(200)
                        .at("/state"))
                .isEqualTo("cancelled");
        assertThat(SERVED.get(key(), "/v1/runs/" + run).at("/reason")).isEqualTo("not needed");
        SERVED.post(key(), "/v1/runs/" + run + "/reschedule", "{\"at\":\"2999-01-01T00:00:00Z\"}")
                .is(409);
        String unknown = "run_00000000000000000000000000";
        SERVED.post(key(), "/v1/runs/" + unknown + "/cancel", null).is(404);
        SERVED.post(key(), "/v1/runs/" + unknown + "/redrive", null).is(404);
        SERVED.get(key(), "/v1/runs/" + unknown + "/attempts").is(404);
        SERVED.get(key(), "/v1/runs/no-id/explain").is(404);
    }

    @Test
    void a_dead_run_gets_another_life() {
        String run = enqueue("never", "");
        tick();
        assertThat(SERVED.get(key(), "/v1/runs/" + run).at("/state")).isEqualTo("dead");
        assertThat(Integer.parseInt(SERVED.get(key(), "/v1/stats").is(200).at("/dead")))
                .isPositive();
        String again =
                SERVED.post(key(), "/v1/runs/" + run + "/redrive", null).is(201).at("/run");
        assertThat(SERVED.get(key(), "/v1/runs/" + again).at("/parent")).isEqualTo(run);
        SERVED.post(key(), "/v1/runs/" + run + "/redrive", null).is(409);
    }

    @Test
    void a_key_holds_one_run() {
        String body = "{\"target\":{\"handler\":\"echo\"},\"key\":\"only-one\",\"after\":\"1h\"}";
        String run = SERVED.post(key(), "/v1/runs", body).is(201).at("/run");
        Served.Reply second = SERVED.post(key(), "/v1/runs", body).is(200);
        assertThat(second.at("/run")).isEqualTo(run);
        assertThat(second.at("/enqueued")).isEqualTo("false");
    }

    @Test
    void an_idempotency_key_makes_one_run_and_one_answer() {
        String body = "{\"target\":{\"handler\":\"echo\"},\"after\":\"1h\"}";
        Served.Reply first = SERVED.send(key(), "POST", "/v1/runs", body, "Idempotency-Key", "k-1")
                .is(201);
        List<Served.Reply> more = IntStream.range(0, 8)
                .parallel()
                .mapToObj(i -> SERVED.send(key(), "POST", "/v1/runs", body, "Idempotency-Key", "k-1"))
                .toList();
        assertThat(more).allSatisfy(reply -> {
            assertThat(reply.is(201).text()).isEqualTo(first.text());
            assertThat(reply.header("Idempotency-Replayed")).contains("true");
        });
        assertThat(SERVED.send(key(), "POST", "/v1/runs", body.replace("1h", "2h"), "Idempotency-Key", "k-1")
                        .is(422)
                        .code())
                .isEqualTo("idempotency-key-reused");
        // A refused request leaves its key free.
        SERVED.send(key(), "POST", "/v1/runs", body.replace("1h", "soon"), "Idempotency-Key", "k-2")
                .is(422);
        SERVED.send(key(), "POST", "/v1/runs", body, "Idempotency-Key", "k-2").is(201);
        Set<String> runs = new HashSet<>();
        IntStream.range(0, 8)
                .parallel()
                .mapToObj(i -> SERVED.send(key(), "POST", "/v1/runs", body, "Idempotency-Key", "k-3")
                        .is(201)
                        .at("/run"))
                .toList()
                .forEach(runs::add);
        assertThat(runs).hasSize(1);
    }

    @Test
    void a_batch_is_stored_whole_or_not_at_all() {
        Served.Reply made = SERVED.post(
                        key(),
                        "/v1/runs:batch",
                        "{\"target\":{\"handler\":\"echo\"},\"queue\":\"batch\",\"after\":\"1h\",\"runs\":[{\"payload\":1},{\"payload\":[2]},{}]}")
                .is(201);
        assertThat(made.json().path("items")).hasSize(3);
        assertThat(SERVED.post(
                                key(),
                                "/v1/runs:batch",
                                "{\"target\":{\"handler\":\"echo\"},\"queue\":\"batch\",\"runs\":[{\"payload\":1},{\"paylod\":2}]}")
                        .is(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/runs/1/paylod");
        SERVED.post(key(), "/v1/runs:batch", "{\"target\":{\"handler\":\"echo\"},\"runs\":[]}")
                .is(422);
        assertThat(SERVED.get(key(), "/v1/runs?queue=batch").json().path("items"))
                .hasSize(3);
    }

    @Test
    void pages_show_each_run_once_while_runs_come_and_go() {
        for (int i = 0; i < 25; i++) enqueue("echo", ",\"queue\":\"paged\",\"after\":\"1h\"");
        Set<String> seen = new HashSet<>();
        String path = "/v1/runs?queue=paged&limit=4";
        Served.Reply page = SERVED.get(key(), path).is(200);
        int pages = 1;
        while (true) {
            for (JsonNode run : page.json().path("items"))
                assertThat(seen.add(run.path("id").stringValue(""))).isTrue();
            if (!page.json().has("next")) break;
            // One is added in front, and one that was seen already ends: neither moves the rest.
            enqueue("echo", ",\"queue\":\"paged\",\"after\":\"1h\"");
            SERVED.post(key(), "/v1/runs/" + seen.iterator().next() + "/cancel", null);
            page = SERVED.get(key(), path + "&cursor=" + page.at("/next")).is(200);
            pages++;
        }
        assertThat(seen).hasSize(25);
        assertThat(pages).isEqualTo(7);
    }

    @Test
    void filters_take_what_looks_like_sql_literally() {
        for (String value : List.of("%25", "a'b", "_", "\u202e", "%22%3B--"))
            assertThat(SERVED.get(
                                    key(),
                                    "/v1/runs?handler="
                                            + java.net.URLEncoder.encode(
                                                    value, java.nio.charset.StandardCharsets.UTF_8))
                            .is(200)
                            .json()
                            .path("items"))
                    .isEmpty();
        SERVED.get(key(), "/v1/runs?state=dead&handler=never").is(200);
        SERVED.get(key(), "/v1/runs?state=odd").is(400);
        SERVED.get(key(), "/v1/runs?queue=NO").is(400);
        SERVED.get(key(), "/v1/runs?schedule=missing").is(404);
    }

    @Test
    void queues_are_limited_paused_and_shown() {
        enqueue("echo", ",\"queue\":\"mail\",\"after\":\"1h\"");
        Served.Reply limited = SERVED.put(key(), "/v1/queues/mail/limits", "{\"maxRunning\":3,\"perSecond\":2.5}")
                .is(200);
        assertThat(limited.at("/maxRunning")).isEqualTo("3");
        assertThat(limited.at("/waiting")).isEqualTo("1");
        assertThat(SERVED.post(key(), "/v1/queues/mail/pause", "{\"reason\":\"quiet\"}")
                        .is(200)
                        .at("/paused/reason"))
                .isEqualTo("quiet");
        assertThat(SERVED.post(key(), "/v1/queues/mail/resume", null)
                        .is(200)
                        .json()
                        .has("paused"))
                .isFalse();
        assertThat(SERVED.put(key(), "/v1/queues/mail/limits", "{}")
                        .is(200)
                        .json()
                        .has("maxRunning"))
                .isFalse();
        assertThat(SERVED.get(key(), "/v1/queues").is(200).json().path("items").size())
                .isPositive();
        SERVED.get(key(), "/v1/queues/mail").is(200);
        SERVED.get(key(), "/v1/queues/nothing").is(404);
        SERVED.post(key(), "/v1/queues/nothing/resume", null).is(404);
        SERVED.put(key(), "/v1/queues/mail/limits", "{\"maxRunning\":0}").is(422);
    }

    @Test
    void odd_numbers_come_back_as_they_were() {
        String payload = "{\"big\":12345678901234567890123,\"huge\":1E+400,\"small\":1.10,\"text\":\"ü\u0001\"}";
        SERVED.put(
                        key(),
                        "/v1/schedules/odd",
                        "{\"when\":{\"once\":\"2999-01-01T00:00:00Z\"},\"target\":{\"handler\":\"a\"},\"payload\":%s}"
                                .formatted(payload.replace("\u0001", "\\u0001")))
                .is(201);
        String text = SERVED.get(key(), "/v1/schedules/odd").is(200).text();
        assertThat(text).contains("12345678901234567890123", "1E+400", "1.10");
    }
}
