package io.carillon.server.event;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.HandlerType;
import io.carillon.server.RestTestServer;
import io.carillon.server.RestTestServer.Reply;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Subscriptions over REST: created, changed, paused, replayed and deleted, with their lag. */
class SubscriptionsTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer(
            builder -> builder.handle(HandlerType.of("listener", JsonNode.class), (payload, run) -> {}),
            server -> server);

    private static final String OF_HANDLER =
            "{\"name\":\"%s\",\"topic\":\"orders\",\"target\":{\"handler\":\"listener\"}}";

    private static String publish(String key, String topic) {
        return SERVER.post(key, "/v1/events", "{\"topic\":\"%s\",\"type\":\"a.b\",\"key\":\"k\"}".formatted(topic))
                .requireStatus(201)
                .at("/event");
    }

    private static long countRuns(String project) {
        return SERVER.query(
                        "SELECT (SELECT count(*) FROM carillon.run WHERE project = ? AND origin = 'event')"
                                + " + (SELECT count(*) FROM carillon.run_history"
                                + " WHERE project = ? AND origin = 'event')",
                        project,
                        project)
                .number();
    }

    @Test
    void a_subscription_is_created_read_changed_and_deleted() {
        String key = SERVER.createProject("whole-life");
        Reply made = SERVER.post(
                        key,
                        "/v1/subscriptions",
                        "{\"name\":\"s\",\"topic\":\"orders\",\"types\":[\"order.*\",\"x\"],\"inOrder\":true,"
                                + "\"target\":{\"handler\":\"listener\"},\"queue\":\"q\",\"priority\":\"high\"}")
                .requireStatus(201);
        assertThat(made.header("Location")).contains("/v1/subscriptions/s");
        assertThat(made.text()).contains("\"types\":[\"order.*\",\"x\"]");
        assertThat(made.at("/owner")).isEqualTo("api");
        assertThat(made.at("/queue")).isEqualTo("q");
        assertThat(made.at("/priority")).isEqualTo("high");
        assertThat(made.at("/warnings/0")).contains("listener");
        assertThat(SERVER.post(key, "/v1/subscriptions", OF_HANDLER.formatted("s"))
                        .requireStatus(409)
                        .code())
                .isEqualTo("subscription-exists");
        String tag = SERVER.get(key, "/v1/subscriptions/s").header("ETag").orElseThrow();
        String change = "{\"topic\":\"*\",\"target\":{\"handler\":\"other\"}}";

        Reply changed = SERVER.send(key, "PUT", "/v1/subscriptions/s", change, "If-Match", tag)
                .requireStatus(200);

        assertThat(changed.at("/topic")).isEqualTo("*");
        assertThat(changed.text()).contains("\"types\":[\"*\"]");
        assertThat(changed.at("/target/handler")).isEqualTo("other");
        assertThat(changed.at("/version")).isEqualTo("2");
        SERVER.send(key, "PUT", "/v1/subscriptions/s", change, "If-Match", tag).requireStatus(412);
        SERVER.put(key, "/v1/subscriptions/none", change).requireStatus(404);
        SERVER.delete(key, "/v1/subscriptions/s").requireStatus(204);
        SERVER.delete(key, "/v1/subscriptions/s").requireStatus(404);
        SERVER.get(key, "/v1/subscriptions/s").requireStatus(404);
    }

    @Test
    void a_paused_subscription_keeps_its_place_and_shows_its_lag() {
        String key = SERVER.createProject("pausing");
        SERVER.post(key, "/v1/subscriptions", OF_HANDLER.formatted("s")).requireStatus(201);
        Reply paused = SERVER.post(key, "/v1/subscriptions/s/pause", "{\"reason\":\"moving\"}")
                .requireStatus(200);
        assertThat(paused.at("/paused/reason")).isEqualTo("moving");
        assertThat(paused.at("/paused/by")).startsWith("key ");
        String skipped = publish(key, "orders");
        publish(key, "orders");
        publish(key, "other");
        SERVER.runDue();

        Reply behind = SERVER.get(key, "/v1/subscriptions/s").requireStatus(200);
        assertThat(behind.at("/lag/count")).isEqualTo("2");
        assertThat(Instant.parse(behind.at("/lag/oldest")))
                .isBefore(Instant.now().plusSeconds(3_600));
        assertThat(countRuns("pausing")).isZero();
        SERVER.post(key, "/v1/subscriptions/s/skip", "{\"event\":\"%s\"}".formatted(skipped))
                .requireStatus(200);

        assertThat(SERVER.post(key, "/v1/subscriptions/s/resume", null)
                        .requireStatus(200)
                        .at("/paused"))
                .isEmpty();
        SERVER.runDue();

        assertThat(countRuns("pausing")).isEqualTo(1);
        assertThat(SERVER.get(key, "/v1/subscriptions/s").at("/lag/count")).isEqualTo("0");
        assertThat(SERVER.post(key, "/v1/subscriptions/s/skip", "{\"event\":\"%s\"}".formatted(skipped))
                        .requireStatus(409)
                        .code())
                .isEqualTo("event-passed");
    }

    @Test
    void a_replay_delivers_past_events_again() {
        String key = SERVER.createProject("replaying");
        SERVER.post(key, "/v1/subscriptions", OF_HANDLER.formatted("s")).requireStatus(201);
        publish(key, "orders");
        SERVER.runDue();
        assertThat(countRuns("replaying")).isEqualTo(1);
        String range = "{\"from\":\"%s\",\"to\":\"%s\"}";

        SERVER.post(key, "/v1/subscriptions/s/replay", range.formatted("2020-01-01T00:00:00Z", "2999-01-01T00:00:00Z"))
                .requireStatus(202);
        SERVER.runDue();

        assertThat(countRuns("replaying")).isEqualTo(2);
        assertThat(SERVER.post(
                                key,
                                "/v1/subscriptions/s/replay",
                                range.formatted("2999-01-01T00:00:00Z", "2020-01-01T00:00:00Z"))
                        .requireStatus(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/from");
        SERVER.post(
                        key,
                        "/v1/subscriptions/none/replay",
                        range.formatted("2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"))
                .requireStatus(404);
    }

    @Test
    void a_project_has_few_replays_at_a_time() {
        String key = SERVER.createProject("replays");
        SERVER.post(key, "/v1/subscriptions", OF_HANDLER.formatted("s")).requireStatus(201);
        SERVER.post(key, "/v1/subscriptions", OF_HANDLER.formatted("t")).requireStatus(201);
        for (String name : new String[] {"s", "t"})
            SERVER.post(key, "/v1/subscriptions/" + name + "/pause", null).requireStatus(200);
        String range = "{\"from\":\"2020-01-01T00:00:00Z\",\"to\":\"2999-01-01T00:00:00Z\"}";
        for (int i = 0; i < 5; i++)
            SERVER.post(key, "/v1/subscriptions/s/replay", range).requireStatus(202);

        assertThat(SERVER.post(key, "/v1/subscriptions/t/replay", range)
                        .requireStatus(409)
                        .code())
                .isEqualTo("replays-in-progress");
    }

    @Test
    void an_endpoint_of_a_subscription_must_exist_and_is_not_deleted() {
        String key = SERVER.createProject("endpoints");
        String body = "{\"name\":\"s\",\"topic\":\"orders\",\"target\":{\"endpoint\":\"shop\",\"mode\":\"binary\"}}";
        assertThat(SERVER.post(key, "/v1/subscriptions", body)
                        .requireStatus(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/target/endpoint");
        SERVER.post(key, "/v1/endpoints", "{\"name\":\"shop\",\"url\":\"https://a.example/\"}")
                .requireStatus(201);

        Reply made = SERVER.post(key, "/v1/subscriptions", body).requireStatus(201);

        assertThat(made.at("/target/endpoint")).isEqualTo("shop");
        assertThat(made.at("/target/mode")).isEqualTo("binary");
        assertThat(SERVER.delete(key, "/v1/endpoints/shop").requireStatus(409).at("/detail"))
                .contains("1 subscription");
        SERVER.delete(key, "/v1/endpoints/shop?force=true").requireStatus(204);
        assertThat(SERVER.get(key, "/v1/subscriptions/s").at("/paused/reason")).contains("shop");
    }

    @Test
    void pages_of_subscriptions_follow_each_other() {
        String key = SERVER.createProject("pages");
        for (int i = 0; i < 3; i++)
            SERVER.post(key, "/v1/subscriptions", OF_HANDLER.formatted("s" + i)).requireStatus(201);

        Reply first = SERVER.get(key, "/v1/subscriptions?limit=2").requireStatus(200);

        assertThat(first.json().path("items")).hasSize(2);
        Reply second = SERVER.get(key, "/v1/subscriptions?limit=2&cursor=" + first.at("/next"))
                .requireStatus(200);
        assertThat(second.at("/items/0/name")).isEqualTo("s2");
        assertThat(second.json().has("next")).isFalse();
    }

    @Test
    void a_project_has_a_limited_number_of_subscriptions() {
        String key = SERVER.createProject("quota");
        SERVER.put(SERVER.bootstrap(), "/v1/projects/quota/quota", "{\"maxSubscriptions\":1}")
                .requireStatus(200);
        SERVER.post(key, "/v1/subscriptions", OF_HANDLER.formatted("s")).requireStatus(201);

        assertThat(SERVER.post(key, "/v1/subscriptions", OF_HANDLER.formatted("t"))
                        .requireStatus(429)
                        .at("/detail"))
                .contains("at most 1 subscriptions");
        SERVER.get(key, "/v1/subscriptions/t").requireStatus(404);
        SERVER.put(key, "/v1/subscriptions/s", "{\"topic\":\"x\",\"target\":{\"handler\":\"listener\"}}")
                .requireStatus(200);
    }

    @Test
    void runs_that_publish_events_are_refused_when_the_runs_of_the_events_exceed_the_quota() {
        String key = SERVER.createProject("fan-out-later");
        SERVER.put(SERVER.bootstrap(), "/v1/projects/fan-out-later/quota", "{\"maxWaiting\":2}")
                .requireStatus(200);
        for (int i = 0; i < 2; i++)
            SERVER.post(key, "/v1/subscriptions", OF_HANDLER.formatted("s" + i)).requireStatus(201);
        String target = "{\"target\":{\"event\":{\"topic\":\"%s\",\"type\":\"a.b\"}}";

        // One run and one for each subscription are too many.
        assertThat(SERVER.post(key, "/v1/runs", target.formatted("orders") + ",\"payload\":1}")
                        .requireStatus(429)
                        .code())
                .isEqualTo("quota-exceeded");
        SERVER.post(key, "/v1/runs:batch", target.formatted("orders") + ",\"runs\":[{\"payload\":1}]}")
                .requireStatus(429);
        SERVER.post(key, "/v1/runs", target.formatted("without-subscription") + ",\"payload\":1}")
                .requireStatus(201);
    }

    @Test
    void triggers_and_backfills_of_a_schedule_that_publishes_count_the_runs_of_its_events() {
        String key = SERVER.createProject("fan-out-schedule");
        SERVER.put(SERVER.bootstrap(), "/v1/projects/fan-out-schedule/quota", "{\"maxWaiting\":4}")
                .requireStatus(200);
        for (int i = 0; i < 4; i++)
            SERVER.post(key, "/v1/subscriptions", OF_HANDLER.formatted("s" + i)).requireStatus(201);
        for (String topic : List.of("orders", "without-subscription"))
            SERVER.put(key, "/v1/schedules/" + topic, """
                            {"when":{"cron":"0 0 1 1 *","from":"2025-01-01T00:00:00Z"},"payload":1,
                             "target":{"event":{"topic":"%s","type":"a.b"}}}
                            """.formatted(topic)).requireStatus(201);
        String day = "{\"from\":\"2026-01-01T00:00:00Z\",\"to\":\"2026-01-01T12:00:00Z\",\"droppedHistory\":\"run\"}";

        // One run and one for each subscription are too many.
        assertThat(SERVER.post(key, "/v1/schedules/orders/trigger", null)
                        .requireStatus(429)
                        .code())
                .isEqualTo("quota-exceeded");
        SERVER.post(key, "/v1/schedules/orders/backfill", day).requireStatus(429);
        SERVER.post(key, "/v1/schedules/without-subscription/trigger", null).requireStatus(201);
        SERVER.post(key, "/v1/schedules/without-subscription/backfill", day).requireStatus(200);
    }

    @Test
    void events_are_refused_when_their_runs_exceed_the_quota_of_runs() {
        String key = SERVER.createProject("fan-out");
        SERVER.put(SERVER.bootstrap(), "/v1/projects/fan-out/quota", "{\"maxWaiting\":3}")
                .requireStatus(200);
        for (int i = 0; i < 2; i++)
            SERVER.post(key, "/v1/subscriptions", OF_HANDLER.formatted("s" + i)).requireStatus(201);
        publish(key, "orders");

        // Two events with two runs each are too many, whether or not the runs of the first event are counted.
        String event = "{\"topic\":\"orders\",\"type\":\"a.b\"}";
        Reply refused = SERVER.post(key, "/v1/events:batch", "{\"events\":[" + event + "," + event + "]}")
                .requireStatus(429);

        assertThat(refused.code()).isEqualTo("quota-exceeded");
        publish(key, "without-subscription");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"topic\":\"a\",\"target\":{\"handler\":\"h\"}}|/name",
                "{\"name\":\"A\",\"topic\":\"a\",\"target\":{\"handler\":\"h\"}}|/name",
                "{\"name\":\"a\",\"target\":{\"handler\":\"h\"}}|/topic",
                "{\"name\":\"a\",\"topic\":\"*a\",\"target\":{\"handler\":\"h\"}}|/topic",
                "{\"name\":\"a\",\"topic\":\"a\",\"types\":[],\"target\":{\"handler\":\"h\"}}|/types",
                "{\"name\":\"a\",\"topic\":\"a\",\"types\":[\"a*b\"],\"target\":{\"handler\":\"h\"}}|/types",
                "{\"name\":\"a\",\"topic\":\"a\"}|/target",
                "{\"name\":\"a\",\"topic\":\"a\",\"target\":{}}|/target",
                "{\"name\":\"a\",\"topic\":\"a\",\"target\":{\"handler\":\"h\",\"endpoint\":\"e\"}}|/target",
                "{\"name\":\"a\",\"topic\":\"a\",\"target\":{\"handler\":\"h\",\"mode\":\"binary\"}}|/target/mode",
                "{\"name\":\"a\",\"topic\":\"a\",\"target\":{\"handler\":\"carillon.publish\"}}|/target/handler",
                "{\"name\":\"a\",\"topic\":\"a\",\"target\":{\"url\":\"http://a\"}}|/target",
                "{\"name\":\"a\",\"topic\":\"a\",\"target\":{\"handler\":\"h\"},\"start\":\"soon\"}|/start",
                "{\"name\":\"a\",\"topic\":\"a\",\"target\":{\"handler\":\"h\"},\"queue\":\"endpoint.x\"}|/queue"
            })
    void refuses_what_is_not_a_subscription(String body, String pointer) {
        Reply refused =
                SERVER.post(SERVER.bootstrap(), "/v1/subscriptions", body).requireStatus(422);
        assertThat(refused.at("/errors/0/pointer")).isEqualTo(pointer);
    }

    @Test
    void the_start_cannot_be_changed() {
        String key = SERVER.createProject("starting");
        publish(key, "orders");
        SERVER.runDue();
        SERVER.post(
                        key,
                        "/v1/subscriptions",
                        "{\"name\":\"s\",\"topic\":\"orders\",\"target\":{\"handler\":\"listener\"},"
                                + "\"start\":\"beginning\"}")
                .requireStatus(201);
        SERVER.runDue();
        assertThat(countRuns("starting")).isEqualTo(1);

        assertThat(SERVER.put(
                                key,
                                "/v1/subscriptions/s",
                                "{\"topic\":\"orders\",\"target\":{\"handler\":\"listener\"},\"start\":\"now\"}")
                        .requireStatus(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/start");
    }

    @Test
    void only_keys_that_may_manage_change_subscriptions() {
        String key = SERVER.createProject("managers");
        String reader = SERVER.createKeyAs(key, "read");
        String publisher = SERVER.createKeyAs(key, "enqueue");
        SERVER.post(key, "/v1/subscriptions", OF_HANDLER.formatted("s")).requireStatus(201);

        for (String other : new String[] {reader, publisher}) {
            SERVER.post(other, "/v1/subscriptions", OF_HANDLER.formatted("t")).requireStatus(403);
            SERVER.post(other, "/v1/subscriptions/s/pause", null).requireStatus(403);
            SERVER.delete(other, "/v1/subscriptions/s").requireStatus(403);
        }
        SERVER.get(reader, "/v1/subscriptions/s").requireStatus(200);
        SERVER.get(publisher, "/v1/subscriptions/s").requireStatus(403);
        SERVER.get(SERVER.bootstrap(), "/v1/subscriptions/s").requireStatus(404);
        SERVER.post(SERVER.bootstrap(), "/v1/subscriptions/s/pause", null).requireStatus(404);
    }
}
