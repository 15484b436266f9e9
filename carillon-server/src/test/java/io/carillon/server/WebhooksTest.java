package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Webhook schedules and runs over REST with a real receiver: created, read, changed, delivered, rejected, and paused
 * after 410.
 */
class WebhooksTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    /** Has a port of its own in each test: a host that failed in one test must not be paused in the next. */
    private WebhookReceiver webhookReceiver;

    private static String key;

    @BeforeAll
    static void createProject() {
        key = SERVER.createProject("hooks");
    }

    @BeforeEach
    void listen() throws Exception {
        webhookReceiver = new WebhookReceiver();
    }

    @AfterEach
    void stop() {
        webhookReceiver.close();
    }

    private static String schedule(String target) {
        return "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":" + target + "}";
    }

    private String target(String path) {
        return "{\"url\":\"" + webhookReceiver.url(path) + "\"}";
    }

    private String enqueued(String path, String more) {
        return SERVER.post(key, "/v1/runs", "{\"target\":" + target(path) + more + "}")
                .requireStatus(201)
                .at("/run");
    }

    @Test
    void a_schedule_is_created_read_back_changed_and_delivers() {
        String full = ("{\"url\":\"%s\",\"method\":\"PUT\",\"headers\":{\"X-Team\":\"a\"},\"body\":\"hello\","
                        + "\"timeouts\":{\"total\":\"9s\"},\"success\":[200,204],\"callback\":\"1h\"}")
                .formatted(webhookReceiver.url("/full"));
        RestTestServer.Reply made =
                SERVER.put(key, "/v1/schedules/full", schedule(full)).requireStatus(201);
        assertThat(made.at("/queue")).isEqualTo("webhooks");
        assertThat(made.json().has("payload")).isFalse();
        RestTestServer.Reply read = SERVER.get(key, "/v1/schedules/full").requireStatus(200);
        assertThat(read.at("/target/method")).isEqualTo("PUT");
        assertThat(read.at("/target/headers/x-team")).isEqualTo("a");
        assertThat(read.at("/target/timeouts/total")).isEqualTo("PT9S");
        assertThat(read.at("/target/timeouts/connect")).isEqualTo("PT5S");
        assertThat(read.at("/target/callback")).isEqualTo("PT1H");
        // Writing the target that was read changes nothing.
        RestTestServer.Reply same = SERVER.put(
                        key,
                        "/v1/schedules/full",
                        schedule(read.json().path("target").toString()))
                .requireStatus(200);
        assertThat(same.at("/version")).isEqualTo(read.at("/version"));

        SERVER.post(key, "/v1/schedules/full/trigger", null).requireStatus(201);
        SERVER.runDue();
        WebhookReceiver.ReceivedRequest receivedRequest =
                webhookReceiver.received("/full").get(0);
        assertThat(receivedRequest.method()).isEqualTo("PUT");
        assertThat(receivedRequest.body()).isEqualTo("hello");
        assertThat(receivedRequest.header("x-team")).isEqualTo("a");

        SERVER.put(key, "/v1/schedules/full", schedule(target("/other"))).requireStatus(200);
        assertThat(SERVER.get(key, "/v1/schedules/full").at("/target/url")).endsWith("/other");
    }

    @Test
    void a_payload_is_the_body_and_the_answer_is_kept_with_the_run() {
        String run = enqueued("/taken", ",\"payload\":{\"order\":17,\"price\":1.10}");
        SERVER.runDue();

        WebhookReceiver.ReceivedRequest receivedRequest =
                webhookReceiver.received("/taken").get(0);
        assertThat(receivedRequest.body()).isEqualTo("{\"order\":17,\"price\":1.10}");
        assertThat(receivedRequest.header("webhook-id")).isEqualTo(run);
        assertThat(receivedRequest.header("content-type")).isEqualTo("application/json");
        RestTestServer.Reply ended = SERVER.get(key, "/v1/runs/" + run).requireStatus(200);
        assertThat(ended.at("/state")).isEqualTo("succeeded");
        assertThat(ended.at("/target/url")).endsWith("/taken");
        assertThat(ended.at("/delivery/verdict")).isEqualTo("delivered");
        assertThat(ended.at("/delivery/url")).isEqualTo(webhookReceiver.url("/taken"));
        assertThat(ended.at("/delivery/status")).isEqualTo("200");
        assertThat(ended.at("/delivery/headers/x-receiver")).isEqualTo("here");
        assertThat(ended.text()).doesNotContain("session=hidden");
    }

    @Test
    void many_at_once_have_a_body_each() {
        SERVER.post(
                        key,
                        "/v1/runs:batch",
                        "{\"target\":" + target("/batch") + ",\"runs\":[{\"payload\":1},{\"payload\":\"two\"},{}]}")
                .requireStatus(201);
        SERVER.runDue();

        assertThat(webhookReceiver.received("/batch"))
                .extracting(WebhookReceiver.ReceivedRequest::body)
                .containsExactlyInAnyOrder("1", "\"two\"", "");
    }

    @Test
    void a_failed_attempt_shows_what_came_back_and_no_more_than_4_kib() {
        String run = enqueued("/500", "");
        String longer = SERVER.post(
                        key,
                        "/v1/runs",
                        "{\"target\":{\"url\":\"" + webhookReceiver.url("/long") + "\",\"success\":[204]}}")
                .requireStatus(201)
                .at("/run");
        SERVER.runDue();

        RestTestServer.Reply attempts =
                SERVER.get(key, "/v1/runs/" + run + "/attempts").requireStatus(200);
        assertThat(attempts.at("/items/0/outcome")).isEqualTo("failed");
        assertThat(attempts.at("/items/0/delivery/status")).isEqualTo("500");
        assertThat(attempts.at("/items/0/delivery/body")).isEqualTo("said 500");
        assertThat(attempts.at("/items/0/delivery/headers/x-receiver")).isEqualTo("here");
        assertThat(SERVER.get(key, "/v1/runs/" + longer + "/attempts")
                        .requireStatus(200)
                        .at("/items/0/delivery/body")
                        .length())
                .isBetween(1_000, 4_096);
    }

    @Test
    void a_410_response_pauses_the_schedule_with_a_reason_and_an_audit_line() {
        SERVER.put(key, "/v1/schedules/gone", schedule(target("/410"))).requireStatus(201);
        String run = SERVER.post(key, "/v1/schedules/gone/trigger", null)
                .requireStatus(201)
                .at("/run");
        SERVER.runDue();

        RestTestServer.Reply paused = SERVER.get(key, "/v1/schedules/gone").requireStatus(200);
        assertThat(paused.at("/paused/by")).isEqualTo("webhook");
        assertThat(paused.at("/paused/reason")).contains("410");
        assertThat(SERVER.get(key, "/v1/runs/" + run).at("/state")).isEqualTo("dead");
        RestTestServer.Reply audit =
                SERVER.get(key, "/v1/audit?action=schedule.pause&limit=1").requireStatus(200);
        assertThat(audit.at("/items/0/object")).isEqualTo("schedule/gone");
        assertThat(audit.at("/items/0/actor")).isEqualTo("webhook");
        assertThat(audit.at("/items/0/detail/run")).isEqualTo(run);
        SERVER.post(key, "/v1/schedules/gone/resume", null).requireStatus(200);
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
    void an_ambiguous_url_is_refused_before_anything_is_written(String url) {
        String target = "{\"url\":\"" + url + "\"}";
        for (RestTestServer.Reply reply : List.of(
                SERVER.put(key, "/v1/schedules/refused", schedule(target)),
                SERVER.post(key, "/v1/runs", "{\"target\":" + target + "}"),
                SERVER.post(key, "/v1/webhooks/test", "{\"target\":" + target + "}"))) {
            assertThat(reply.requireStatus(422).at("/errors/0/pointer")).isEqualTo("/target/url");
            if (!url.isEmpty()) assertThat(reply.text()).doesNotContain(url);
        }
        SERVER.get(key, "/v1/schedules/refused").requireStatus(404);
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
                "'\"secretHeaders\":{\"authorization\":\"unknown\"}' | /target/secretHeaders",
                "'\"secret\":\"unknown\"' | /target/secret",
                "'\"endpoint\":\"unknown\"' | /target/url",
                "'\"timeouts\":{\"total\":\"2h\"}' | /target/timeouts",
                "'\"timeouts\":{\"all\":\"2s\"}' | /target/timeouts/all",
                "'\"success\":[99]' | /target/success",
                "'\"callback\":\"31d\"' | /target/callback",
                "'\"handler\":\"a\"' | /target/handler",
                "'\"nonsense\":1' | /target/nonsense"
            })
    void invalid_targets_are_refused_with_a_pointer(String field, String pointer) {
        RestTestServer.Reply reply = SERVER.put(
                        key, "/v1/schedules/refused", schedule("{\"url\":\"https://a.example/\"," + field + "}"))
                .requireStatus(422);
        assertThat(reply.at("/errors/0/pointer")).isEqualTo(pointer);
        assertThat(reply.text()).doesNotContain("s3cret");
        SERVER.get(key, "/v1/schedules/refused").requireStatus(404);
    }

    @Test
    void the_webhook_handler_cannot_be_named_as_target_and_a_body_is_given_once() {
        assertThat(SERVER.post(key, "/v1/runs", "{\"target\":{\"handler\":\"webhook\"}}")
                        .requireStatus(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/target/handler");
        assertThat(SERVER.post(
                                key,
                                "/v1/runs",
                                "{\"target\":{\"url\":\"https://a.example/\",\"body\":\"x\"},\"payload\":{}}")
                        .requireStatus(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/payload");
    }

    @Test
    void a_test_sends_once_and_reports_blocked_and_unreachable_addresses_alike() {
        RestTestServer.Reply taken = SERVER.post(
                        key, "/v1/webhooks/test", "{\"target\":" + target("/tried") + ",\"payload\":{\"a\":1}}")
                .requireStatus(200);
        assertThat(taken.at("/verdict")).isEqualTo("delivered");
        assertThat(webhookReceiver.received("/tried"))
                .hasSize(1)
                .allMatch(receivedRequest -> receivedRequest.body().equals("{\"a\":1}"));
        assertThat(SERVER.post(key, "/v1/webhooks/test", "{\"target\":" + target("/503") + "}")
                        .requireStatus(200)
                        .at("/status"))
                .isEqualTo("503");
        String blocked = sendTest("http://169.254.169.254/latest/meta-data/");
        String absent = sendTest("http://unknown.invalid/latest/meta-data/");
        assertThat(blocked.replace("169.254.169.254", "unknown.invalid")).isEqualTo(absent);
        assertThat(SERVER.get(key, "/v1/audit?action=webhook.test&limit=1").at("/items/0/object"))
                .doesNotContain("meta-data");
        SERVER.send(key, "POST", "/v1/webhooks/test", "{\"target\":" + target("/x") + "}", "Idempotency-Key", "k")
                .requireStatus(400);
        SERVER.post(key, "/v1/webhooks/test", "{\"target\":{\"handler\":\"a\"}}")
                .requireStatus(422);
    }

    private static String sendTest(String url) {
        return SERVER.post(key, "/v1/webhooks/test", "{\"target\":{\"url\":\"" + url + "\"}}")
                .requireStatus(200)
                .text()
                .replaceAll("\"millis\":\\d+", "");
    }

    @Test
    void a_replay_sends_the_same_under_the_id_of_its_run_and_changes_nothing() {
        String run = enqueued("/again", ",\"payload\":[1,2]");
        SERVER.runDue();
        String before = SERVER.get(key, "/v1/runs/" + run).requireStatus(200).text();

        assertThat(SERVER.post(key, "/v1/runs/" + run + "/replay", null)
                        .requireStatus(200)
                        .at("/verdict"))
                .isEqualTo("delivered");
        assertThat(webhookReceiver.received("/again"))
                .hasSize(2)
                .allMatch(
                        receivedRequest -> receivedRequest.header("webhook-id").equals(run)
                                && receivedRequest.body().equals("[1,2]"));
        assertThat(SERVER.get(key, "/v1/runs/" + run).requireStatus(200).text()).isEqualTo(before);
        String other = SERVER.post(key, "/v1/runs", "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\"}")
                .at("/run");
        assertThat(SERVER.post(key, "/v1/runs/" + other + "/replay", null)
                        .requireStatus(409)
                        .code())
                .isEqualTo("not-a-webhook");
    }

    @Test
    void a_receiver_that_answered_202_calls_back_with_its_token_once() {
        String well = enqueueAwaiting("/202?well");
        String badly = enqueueAwaiting("/202?badly");
        String token = callbackToken("/202?well");

        complete(badly, token, "").requireStatus(404);
        complete(well, token + "x", "").requireStatus(404);
        complete(well, "A".repeat(token.length()), "").requireStatus(404);
        SERVER.post(null, "/v1/runs/" + well + "/complete", "{\"attempt\":2,\"token\":\"" + token + "\"}")
                .requireStatus(404);
        complete(well, token, "").requireStatus(200);
        assertThat(complete(well, token, "").requireStatus(404).code()).isEqualTo("not-awaited");
        complete(badly, callbackToken("/202?badly"), ",\"error\":\"no space left\"")
                .requireStatus(200);

        assertThat(SERVER.get(key, "/v1/runs/" + well).at("/state")).isEqualTo("succeeded");
        assertThat(SERVER.get(key, "/v1/runs/" + badly + "/attempts").at("/items/0/error"))
                .contains("no space left");
        assertThat(SERVER.get(key, "/v1/audit?action=run.complete").at("/items/0/object"))
                .isEqualTo("run/" + well);
        assertThat(SERVER.query("SELECT string_agg(t::text, '') FROM carillon.audit t")
                        .text())
                .doesNotContain(token);
    }

    private String enqueueAwaiting(String path) {
        String run = SERVER.post(
                        key,
                        "/v1/runs",
                        "{\"target\":{\"url\":\"" + webhookReceiver.url(path)
                                + "\",\"success\":[202],\"callback\":\"1h\"}}")
                .requireStatus(201)
                .at("/run");
        SERVER.runDue();
        assertThat(SERVER.get(key, "/v1/runs/" + run).at("/parked")).isEqualTo("awaiting");
        return run;
    }

    private String callbackToken(String path) {
        return webhookReceiver.received(path).get(0).header("carillon-callback-token");
    }

    private static RestTestServer.Reply complete(String run, String token, String more) {
        return SERVER.post(
                null, "/v1/runs/" + run + "/complete", "{\"attempt\":1,\"token\":\"" + token + "\"" + more + "}");
    }
}
