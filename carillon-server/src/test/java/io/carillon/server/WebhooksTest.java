package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Schedules and runs that call a URL, over REST and to a real receiver: made, read back, changed, delivered, refused, and switched off by 410. */
class WebhooksTest {
    @RegisterExtension
    static final Served SERVED = new Served();

    private static Receiver receiver;
    private static String key;

    @BeforeAll
    static void listen() throws Exception {
        receiver = new Receiver();
        key = SERVED.project("hooks");
    }

    @AfterAll
    static void stop() {
        receiver.close();
    }

    private static String schedule(String target) {
        return "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":" + target + "}";
    }

    private static String target(String path) {
        return "{\"url\":\"" + receiver.url(path) + "\"}";
    }

    private static String enqueued(String path, String more) {
        return SERVED.post(key, "/v1/runs", "{\"target\":" + target(path) + more + "}")
                .is(201)
                .at("/run");
    }

    @Test
    void a_schedule_is_made_read_back_changed_and_calls() {
        String full =
                "{\"url\":\"%s\",\"method\":\"PUT\",\"headers\":{\"X-Team\":\"a\"},\"body\":\"hello\",\"timeouts\":{\"total\":\"9s\"},\"success\":[200,204],\"callback\":\"1h\"}"
                        .formatted(receiver.url("/full"));
        Served.Reply made =
                SERVED.put(key, "/v1/schedules/full", schedule(full)).is(201);
        assertThat(made.at("/queue")).isEqualTo("webhooks");
        assertThat(made.json().has("payload")).isFalse();
        Served.Reply read = SERVED.get(key, "/v1/schedules/full").is(200);
        assertThat(read.at("/target/method")).isEqualTo("PUT");
        assertThat(read.at("/target/headers/x-team")).isEqualTo("a");
        assertThat(read.at("/target/timeouts/total")).isEqualTo("PT9S");
        assertThat(read.at("/target/timeouts/connect")).isEqualTo("PT5S");
        assertThat(read.at("/target/callback")).isEqualTo("PT1H");
        // What was read can be written, and is the same promise.
        Served.Reply same = SERVED.put(
                        key,
                        "/v1/schedules/full",
                        schedule(read.json().path("target").toString()))
                .is(200);
        assertThat(same.at("/version")).isEqualTo(read.at("/version"));

        SERVED.post(key, "/v1/schedules/full/trigger", null).is(201);
        SERVED.tick();
        Receiver.Got got = receiver.got("/full").get(0);
        assertThat(got.method()).isEqualTo("PUT");
        assertThat(got.body()).isEqualTo("hello");
        assertThat(got.header("x-team")).isEqualTo("a");

        SERVED.put(key, "/v1/schedules/full", schedule(target("/other"))).is(200);
        assertThat(SERVED.get(key, "/v1/schedules/full").at("/target/url")).endsWith("/other");
    }

    @Test
    void a_payload_is_the_body_and_the_answer_is_kept_with_the_run() {
        String run = enqueued("/taken", ",\"payload\":{\"order\":17,\"price\":1.10}");
        SERVED.tick();

        Receiver.Got got = receiver.got("/taken").get(0);
        assertThat(got.body()).isEqualTo("{\"order\":17,\"price\":1.10}");
        assertThat(got.header("webhook-id")).isEqualTo(run);
        assertThat(got.header("content-type")).isEqualTo("application/json");
        Served.Reply ended = SERVED.get(key, "/v1/runs/" + run).is(200);
        assertThat(ended.at("/state")).isEqualTo("succeeded");
        assertThat(ended.at("/target/url")).endsWith("/taken");
        assertThat(ended.at("/delivery/verdict")).isEqualTo("delivered");
        assertThat(ended.at("/delivery/status")).isEqualTo("200");
        assertThat(ended.at("/delivery/headers/x-receiver")).isEqualTo("here");
        assertThat(ended.text()).doesNotContain("session=hidden");
    }

    @Test
    void many_at_once_have_a_body_each() {
        SERVED.post(
                        key,
                        "/v1/runs:batch",
                        "{\"target\":" + target("/batch") + ",\"runs\":[{\"payload\":1},{\"payload\":\"two\"},{}]}")
                .is(201);
        SERVED.tick();

        assertThat(receiver.got("/batch")).extracting(Receiver.Got::body).containsExactlyInAnyOrder("1", "\"two\"", "");
    }

    @Test
    void a_failed_attempt_shows_what_came_back_and_no_more_than_4_kib() {
        String run = enqueued("/500", "");
        String longer = SERVED.post(
                        key, "/v1/runs", "{\"target\":{\"url\":\"" + receiver.url("/long") + "\",\"success\":[204]}}")
                .is(201)
                .at("/run");
        SERVED.tick();

        Served.Reply attempts = SERVED.get(key, "/v1/runs/" + run + "/attempts").is(200);
        assertThat(attempts.at("/items/0/outcome")).isEqualTo("failed");
        assertThat(attempts.at("/items/0/delivery/status")).isEqualTo("500");
        assertThat(attempts.at("/items/0/delivery/body")).isEqualTo("said 500");
        assertThat(attempts.at("/items/0/delivery/headers/x-receiver")).isEqualTo("here");
        assertThat(SERVED.get(key, "/v1/runs/" + longer + "/attempts")
                        .is(200)
                        .at("/items/0/delivery/body")
                        .length())
                .isBetween(1_000, 4_096);
    }

    @Test
    void who_answers_410_pauses_its_schedule_with_a_reason_and_a_line_in_the_audit() {
        SERVED.put(key, "/v1/schedules/gone", schedule(target("/410"))).is(201);
        String run =
                SERVED.post(key, "/v1/schedules/gone/trigger", null).is(201).at("/run");
        SERVED.tick();

        Served.Reply paused = SERVED.get(key, "/v1/schedules/gone").is(200);
        assertThat(paused.at("/paused/by")).isEqualTo("webhook");
        assertThat(paused.at("/paused/reason")).contains("410");
        assertThat(SERVED.get(key, "/v1/runs/" + run).at("/state")).isEqualTo("dead");
        Served.Reply audit =
                SERVED.get(key, "/v1/audit?action=schedule.pause&limit=1").is(200);
        assertThat(audit.at("/items/0/object")).isEqualTo("schedule/gone");
        assertThat(audit.at("/items/0/actor")).isEqualTo("webhook");
        assertThat(audit.at("/items/0/detail/run")).isEqualTo(run);
        SERVED.post(key, "/v1/schedules/gone/resume", null).is(200);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ftp://a.example/",
                "http://user:pw@a.example/",
                "http://0x7f.1/",
                "http://a.example:0/",
                "http://a.example/#f",
                "//a.example",
                ""
            })
    void a_url_with_two_readings_is_refused_before_anything_is_written(String url) {
        String target = "{\"url\":\"" + url + "\"}";
        for (Served.Reply reply : List.of(
                SERVED.put(key, "/v1/schedules/refused", schedule(target)),
                SERVED.post(key, "/v1/runs", "{\"target\":" + target + "}"),
                SERVED.post(key, "/v1/webhooks/test", "{\"target\":" + target + "}"))) {
            assertThat(reply.is(422).at("/errors/0/pointer")).isEqualTo("/target/url");
            if (!url.isEmpty()) assertThat(reply.text()).doesNotContain(url);
        }
        SERVED.get(key, "/v1/schedules/refused").is(404);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'\"method\":\"TRACE\"' | /target/method",
                "'\"headers\":{\"Host\":\"a\"}' | /target/headers",
                "'\"headers\":{\"x\":\"a\\r\\nb: c\"}' | /target/headers",
                "'\"headers\":{\"Authorization\":\"Bearer s3cret\"}' | /target/headers",
                "'\"headers\":{\"a\":1}' | /target/headers",
                "'\"secretHeaders\":{\"authorization\":\"nobody\"}' | /target/secretHeaders/authorization",
                "'\"secret\":\"nobody\"' | /target/secret",
                "'\"timeouts\":{\"total\":\"2h\"}' | /target/timeouts",
                "'\"timeouts\":{\"all\":\"2s\"}' | /target/timeouts/all",
                "'\"success\":[99]' | /target/success",
                "'\"callback\":\"31d\"' | /target/callback",
                "'\"handler\":\"a\"' | /target/handler",
                "'\"nonsense\":1' | /target/nonsense"
            })
    void what_cannot_be_is_refused_with_its_place(String field, String pointer) {
        Served.Reply reply = SERVED.put(
                        key, "/v1/schedules/refused", schedule("{\"url\":\"https://a.example/\"," + field + "}"))
                .is(422);
        assertThat(reply.at("/errors/0/pointer")).isEqualTo(pointer);
        assertThat(reply.text()).doesNotContain("s3cret");
        SERVED.get(key, "/v1/schedules/refused").is(404);
    }

    @Test
    void the_handler_behind_it_is_not_called_by_its_name_and_a_body_is_given_once() {
        assertThat(SERVED.post(key, "/v1/runs", "{\"target\":{\"handler\":\"webhook\"}}")
                        .is(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/target/handler");
        assertThat(SERVED.post(
                                key,
                                "/v1/runs",
                                "{\"target\":{\"url\":\"https://a.example/\",\"body\":\"x\"},\"payload\":{}}")
                        .is(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/payload");
    }

    @Test
    void a_test_sends_once_and_says_the_same_of_what_is_blocked_and_what_is_not_there() {
        Served.Reply taken = SERVED.post(
                        key, "/v1/webhooks/test", "{\"target\":" + target("/tried") + ",\"payload\":{\"a\":1}}")
                .is(200);
        assertThat(taken.at("/verdict")).isEqualTo("delivered");
        assertThat(receiver.got("/tried")).hasSize(1).allMatch(got -> got.body().equals("{\"a\":1}"));
        assertThat(SERVED.post(key, "/v1/webhooks/test", "{\"target\":" + target("/503") + "}")
                        .is(200)
                        .at("/status"))
                .isEqualTo("503");
        String blocked = tried("http://169.254.169.254/latest/meta-data/");
        String absent = tried("http://nobody.invalid/");
        assertThat(blocked.replace("169.254.169.254", "nobody.invalid")).isEqualTo(absent);
        assertThat(SERVED.get(key, "/v1/audit?action=webhook.test&limit=1").at("/items/0/object"))
                .doesNotContain("meta-data");
        SERVED.send(key, "POST", "/v1/webhooks/test", "{\"target\":" + target("/x") + "}", "Idempotency-Key", "k")
                .is(400);
        SERVED.post(key, "/v1/webhooks/test", "{\"target\":{\"handler\":\"a\"}}")
                .is(422);
    }

    private static String tried(String url) {
        return SERVED.post(key, "/v1/webhooks/test", "{\"target\":{\"url\":\"" + url + "\"}}")
                .is(200)
                .text()
                .replaceAll("\"millis\":\\d+", "");
    }

    @Test
    void a_replay_sends_the_same_under_the_id_of_its_run_and_changes_nothing() {
        String run = enqueued("/again", ",\"payload\":[1,2]");
        SERVED.tick();
        String before = SERVED.get(key, "/v1/runs/" + run).is(200).text();

        assertThat(SERVED.post(key, "/v1/runs/" + run + "/replay", null).is(200).at("/verdict"))
                .isEqualTo("delivered");
        assertThat(receiver.got("/again"))
                .hasSize(2)
                .allMatch(got ->
                        got.header("webhook-id").equals(run) && got.body().equals("[1,2]"));
        assertThat(SERVED.get(key, "/v1/runs/" + run).is(200).text()).isEqualTo(before);
        String other = SERVED.post(key, "/v1/runs", "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\"}")
                .at("/run");
        assertThat(SERVED.post(key, "/v1/runs/" + other + "/replay", null)
                        .is(409)
                        .code())
                .isEqualTo("not-a-webhook");
    }

    @Test
    void a_receiver_that_answered_202_calls_back_with_its_token_once() {
        String well = awaiting("/202?well");
        String badly = awaiting("/202?badly");
        String token = token("/202?well");

        complete(badly, token, "").is(404);
        complete(well, token + "x", "").is(404);
        complete(well, "A".repeat(token.length()), "").is(404);
        SERVED.post(null, "/v1/runs/" + well + "/complete", "{\"attempt\":2,\"token\":\"" + token + "\"}")
                .is(404);
        complete(well, token, "").is(200);
        assertThat(complete(well, token, "").is(404).code()).isEqualTo("not-awaited");
        complete(badly, token("/202?badly"), ",\"error\":\"no space left\"").is(200);

        assertThat(SERVED.get(key, "/v1/runs/" + well).at("/state")).isEqualTo("succeeded");
        assertThat(SERVED.get(key, "/v1/runs/" + badly + "/attempts").at("/items/0/error"))
                .contains("no space left");
        assertThat(SERVED.get(key, "/v1/audit?action=run.complete").at("/items/0/object"))
                .isEqualTo("run/" + well);
        assertThat(SERVED.one("SELECT string_agg(t::text, '') FROM carillon.audit t"))
                .doesNotContain(token);
    }

    private static String awaiting(String path) {
        String run = SERVED.post(
                        key,
                        "/v1/runs",
                        "{\"target\":{\"url\":\"" + receiver.url(path) + "\",\"success\":[202],\"callback\":\"1h\"}}")
                .is(201)
                .at("/run");
        SERVED.tick();
        assertThat(SERVED.get(key, "/v1/runs/" + run).at("/parked")).isEqualTo("awaiting");
        return run;
    }

    private static String token(String path) {
        return receiver.got(path).get(0).header("carillon-callback-token");
    }

    private static Served.Reply complete(String run, String token, String more) {
        return SERVED.post(
                null, "/v1/runs/" + run + "/complete", "{\"attempt\":1,\"token\":\"" + token + "\"" + more + "}");
    }
}
