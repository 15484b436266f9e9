package io.carillon.server.event;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.event.EventPattern;
import io.carillon.event.Subscribe;
import io.carillon.server.RestTestServer;
import io.carillon.server.RestTestServer.Reply;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Events over REST: published once, listed in one order, and shown with their deliveries. */
class EventsTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer(
            builder -> builder.subscribe(
                    "send-mail", EventPattern.of("orders", "order.*"), (event, run) -> {}, Subscribe.inOrder()),
            server -> server);

    private static Reply publish(String key, String body) {
        return SERVER.post(key, "/v1/events", body);
    }

    private static List<String> keys(JsonNode page) {
        return page.path("items")
                .valueStream()
                .map(event -> event.path("key").stringValue(""))
                .toList();
    }

    @Test
    void an_event_is_published_read_and_delivered() {
        Reply made = publish(
                        SERVER.bootstrap(),
                        "{\"topic\":\"orders\",\"type\":\"order.placed\",\"key\":\"17\","
                                + "\"data\":{\"order\":\"17\",\"amount\":1.10,\"token\":\"t-1\"}}")
                .requireStatus(201);
        String event = made.at("/event");
        assertThat(made.at("/published")).isEqualTo("true");
        assertThat(made.header("Location")).contains("/v1/events/" + event);
        SERVER.runDue();

        Reply shown = SERVER.get(SERVER.bootstrap(), "/v1/events/" + event).requireStatus(200);

        assertThat(shown.at("/topic")).isEqualTo("orders");
        assertThat(shown.at("/type")).isEqualTo("order.placed");
        assertThat(shown.text()).contains("\"amount\":1.10");
        assertThat(shown.at("/data/token")).isEqualTo("[redacted]");
        assertThat(shown.json().path("deliveries")).hasSize(1);
        assertThat(shown.at("/deliveries/0/target/handler")).isEqualTo("send-mail");
        assertThat(shown.at("/deliveries/0/subscription")).isEqualTo("send-mail");
        assertThat(shown.at("/deliveries/0/state")).isEqualTo("succeeded");
        String run = shown.at("/deliveries/0/run");
        assertThat(SERVER.get(SERVER.bootstrap(), "/v1/runs/" + run)
                        .requireStatus(200)
                        .at("/origin"))
                .isEqualTo("event");
        assertThat(SERVER.query("SELECT convert_from(data, 'UTF8') FROM carillon.event_store WHERE topic = 'orders'")
                        .text())
                .isEqualTo("{\"order\":\"17\",\"amount\":1.10,\"token\":\"t-1\"}");
    }

    @Test
    void headers_are_stored_and_shown_without_secrets() {
        String key = SERVER.createProject("headers");
        String body = "{\"topic\":\"t\",\"type\":\"a\",\"headers\":%s}";
        String event = publish(key, body.formatted("{\"tenant\":\"acme\",\"api-key\":\"s-1\"}"))
                .requireStatus(201)
                .at("/event");
        publish(key, body.formatted("{}")).requireStatus(201);

        Reply shown = SERVER.get(key, "/v1/events/" + event).requireStatus(200);
        JsonNode items = SERVER.get(key, "/v1/events?topic=t&order=newest")
                .requireStatus(200)
                .json()
                .path("items");

        assertThat(shown.json().path("headers").toString())
                .isEqualTo("{\"api-key\":\"[redacted]\",\"tenant\":\"acme\"}");
        assertThat(items).hasSize(2);
        assertThat(items.get(0).has("headers")).isFalse();
        assertThat(publish(key, body.formatted("{\"Tenant\":\"acme\"}"))
                        .requireStatus(422)
                        .text())
                .contains("/headers", "Tenant");
        assertThat(publish(key, body.formatted("{\"tenant\":1}")).status()).isEqualTo(422);
    }

    @Test
    void a_publish_id_or_an_idempotency_key_makes_a_repetition_store_nothing() {
        String key = SERVER.createProject("repeating");
        String body = "{\"topic\":\"a\",\"type\":\"b\",\"data\":%d,\"publishId\":\"mine\"}";
        String first = publish(key, body.formatted(1)).requireStatus(201).at("/event");

        Reply again = publish(key, body.formatted(2)).requireStatus(200);

        assertThat(again.at("/event")).isEqualTo(first);
        assertThat(again.at("/published")).isEqualTo("false");
        assertThat(again.header("Location")).isEmpty();
        String keyed = "{\"topic\":\"a\",\"type\":\"b\"}";
        Reply one = SERVER.send(key, "POST", "/v1/events", keyed, "Idempotency-Key", "k")
                .requireStatus(201);
        Reply two = SERVER.send(key, "POST", "/v1/events", keyed, "Idempotency-Key", "k")
                .requireStatus(201);
        assertThat(two.at("/event")).isEqualTo(one.at("/event"));
        SERVER.send(key, "POST", "/v1/events", "{\"topic\":\"a\",\"type\":\"c\"}", "Idempotency-Key", "k")
                .requireStatus(422);
        assertThat(countEvents("repeating")).isEqualTo(2);
    }

    private static long countEvents(String project) {
        return SERVER.query("SELECT count(*) FROM carillon.event_store WHERE project = ?", project)
                .number();
    }

    @Test
    void a_version_conflict_is_409_with_both_versions_and_stores_nothing() {
        String key = SERVER.createProject("versions");
        String body = "{\"topic\":\"stock\",\"type\":\"counted\",\"key\":\"bolt\",\"expectedVersion\":%d}";
        assertThat(publish(key, body.formatted(0)).requireStatus(201).at("/version"))
                .isEqualTo("1");

        Reply conflict = publish(key, body.formatted(0)).requireStatus(409);

        assertThat(conflict.code()).isEqualTo("version-conflict");
        assertThat(conflict.at("/expectedVersion")).isEqualTo("0");
        assertThat(conflict.at("/actualVersion")).isEqualTo("1");
        assertThat(publish(key, "{\"topic\":\"stock\",\"type\":\"counted\",\"key\":\"bolt\",\"versions\":true}")
                        .requireStatus(201)
                        .at("/version"))
                .isEqualTo("2");
        assertThat(countEvents("versions")).isEqualTo(2);
        Reply keyless = publish(key, "{\"topic\":\"stock\",\"type\":\"counted\",\"expectedVersion\":0}")
                .requireStatus(422);
        assertThat(keyless.at("/errors/0/pointer")).isEqualTo("/key");
    }

    @Test
    void a_batch_is_published_completely_or_not_at_all() {
        String key = SERVER.createProject("batches");
        String event = "{\"topic\":\"t\",\"type\":\"b\",\"key\":\"%s\",\"publishId\":\"%s\"}";
        String body = "{\"events\":[%s,%s]}";

        Reply made = SERVER.post(
                        key, "/v1/events:batch", body.formatted(event.formatted("1", "p1"), event.formatted("2", "p2")))
                .requireStatus(201);
        Reply again = SERVER.post(
                        key, "/v1/events:batch", body.formatted(event.formatted("2", "p2"), event.formatted("3", "p3")))
                .requireStatus(201);

        assertThat(again.at("/items/0/event")).isEqualTo(made.at("/items/1/event"));
        assertThat(again.at("/items/0/published")).isEqualTo("false");
        assertThat(again.at("/items/1/published")).isEqualTo("true");
        Reply bad = SERVER.post(
                        key,
                        "/v1/events:batch",
                        body.formatted(event.formatted("4", "p4"), "{\"topic\":\"T!\",\"type\":\"b\"}"))
                .requireStatus(422);
        assertThat(bad.at("/errors/0/pointer")).isEqualTo("/events/1/topic");
        SERVER.post(
                        key,
                        "/v1/events:batch",
                        body.formatted(
                                event.formatted("5", "p5"),
                                "{\"topic\":\"v\",\"type\":\"b\",\"key\":\"k\",\"expectedVersion\":7}"))
                .requireStatus(409);
        assertThat(countEvents("batches")).isEqualTo(3);
        String thousand = IntStream.range(0, 1_000)
                .mapToObj(i -> "{\"topic\":\"t\",\"type\":\"b\"}")
                .collect(Collectors.joining(","));
        SERVER.post(key, "/v1/events:batch", "{\"events\":[" + thousand + "]}").requireStatus(201);
        assertThat(countEvents("batches")).isEqualTo(1_003);
        SERVER.post(key, "/v1/events:batch", "{\"events\":[" + thousand + ",{}]}")
                .requireStatus(422);
        SERVER.post(key, "/v1/events:batch", "{\"events\":[]}").requireStatus(422);
    }

    @Test
    void pages_follow_each_other_and_continue_with_later_events() {
        String key = SERVER.createProject("paging");
        for (int i = 0; i < 5; i++)
            publish(key, "{\"topic\":\"t\",\"type\":\"%s\",\"key\":\"%d\"}".formatted(i == 2 ? "odd" : "even.x", i))
                    .requireStatus(201);
        SERVER.runDue();

        List<String> seen = new ArrayList<>();
        String position = "";
        boolean atEnd = false;
        while (!atEnd) {
            JsonNode page = SERVER.get(key, "/v1/events?topic=t&limit=2" + position)
                    .requireStatus(200)
                    .json();
            seen.addAll(keys(page));
            position = "&after=" + page.path("next").stringValue("");
            atEnd = page.path("atEnd").booleanValue(false);
        }
        assertThat(seen).containsExactly("0", "1", "2", "3", "4");
        publish(key, "{\"topic\":\"t\",\"type\":\"odd\",\"key\":\"5\"}").requireStatus(201);
        SERVER.runDue();

        assertThat(keys(SERVER.get(key, "/v1/events?topic=t" + position).json()))
                .containsExactly("5");
        assertThat(keys(SERVER.get(key, "/v1/events?topic=t&type=even.*").json()))
                .containsExactly("0", "1", "3", "4");
        assertThat(keys(SERVER.get(key, "/v1/events?topic=t&type=odd&key=2").json()))
                .containsExactly("2");
        assertThat(keys(SERVER.get(key, "/v1/events?topic=t&order=newest&limit=2")
                        .json()))
                .containsExactly("5", "4");
        assertThat(keys(SERVER.get(key, "/v1/events?topic=t&from=" + Instant.EPOCH)
                        .json()))
                .hasSize(6);
        assertThat(keys(SERVER.get(key, "/v1/events?topic=t&from=2999-01-01T00:00:00Z")
                        .json()))
                .isEmpty();
        assertThat(keys(SERVER.get(key, "/v1/events?topic=none").json())).isEmpty();
        Reply topics = SERVER.get(key, "/v1/topics").requireStatus(200);
        assertThat(topics.json().path("items")).hasSize(1);
        assertThat(topics.at("/items/0/name")).isEqualTo("t");
        assertThat(topics.at("/items/0/lastMinute")).isEqualTo("6");
    }

    @Test
    void a_position_belongs_to_a_project_and_shows_nothing_of_others() {
        String one = SERVER.createProject("position-one");
        String two = SERVER.createProject("position-two");
        String next = SERVER.get(one, "/v1/events?topic=t").requireStatus(200).at("/next");

        assertThat(SERVER.get(two, "/v1/events?topic=t&after=" + next)
                        .requireStatus(400)
                        .code())
                .isEqualTo("malformed-cursor");
        // A position contains numbers that all projects share.
        assertThat(next).hasSizeGreaterThan(20).doesNotMatch("\\d+(-\\d+)?");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"type\":\"b\"}|422|/topic",
                "{\"topic\":\"a\"}|422|/type",
                "{\"topic\":\"A\",\"type\":\"b\"}|422|/topic",
                "{\"topic\":\"a*\",\"type\":\"b\"}|422|/topic",
                "{\"topic\":\"a\",\"type\":\"b c\"}|422|/type",
                "{\"topic\":\"a\",\"type\":\"b\",\"key\":\"\"}|422|/key",
                "{\"topic\":\"a\",\"type\":\"b\",\"publishId\":\"\"}|422|/publishId",
                "{\"topic\":\"a\",\"type\":\"b\",\"key\":\"k\",\"expectedVersion\":-1}|422|/expectedVersion",
                "{\"topic\":\"a\",\"type\":\"b\",\"versions\":true}|422|/key",
                "{\"topic\":\"a\",\"type\":\"b\",\"payload\":1}|422|/payload",
                "{\"topic\":\"a\",\"type\":\"b\",\"data\":\"\\u0000\"}|400|/data"
            })
    void refuses_what_is_not_an_event(String body, int status, String pointer) {
        Reply refused = publish(SERVER.bootstrap(), body).requireStatus(status);
        assertThat(refused.at("/errors/0/pointer")).isEqualTo(pointer);
    }

    @Test
    void refuses_data_that_is_too_large() {
        String data = "\"" + "x".repeat(1_100_000) + "\"";
        assertThat(publish(SERVER.bootstrap(), "{\"topic\":\"a\",\"type\":\"b\",\"data\":" + data + "}")
                        .requireStatus(413)
                        .code())
                .isEqualTo("payload-too-large");
    }

    @ParameterizedTest
    @CsvSource({
        "/v1/events, topic",
        "/v1/events?topic=A, topic",
        "/v1/events?topic=a&type=*a, type",
        "/v1/events?topic=a&key=, key",
        "/v1/events?topic=a&after=x&from=2026-01-01T00:00:00Z, from",
        "/v1/events?topic=a&order=newest&after=x, after",
        "/v1/events?topic=a&order=latest, order",
        "/v1/events?topic=a&limit=201, limit",
        "/v1/events:tail, topic",
        "/v1/events:tail?topic=a&type=*a, type"
    })
    void refuses_odd_filters_and_names_the_parameter(String path, String parameter) {
        Reply refused = SERVER.get(SERVER.bootstrap(), path).requireStatus(400);
        assertThat(refused.at("/errors/0/pointer")).isEqualTo(parameter);
    }

    @Test
    void scopes_allow_publishing_and_reading_separately() {
        String key = SERVER.createProject("scopes");
        String reader = SERVER.createKeyAs(key, "read");
        String publisher = SERVER.createKeyAs(key, "enqueue");

        String event = publish(publisher, "{\"topic\":\"a\",\"type\":\"b\"}")
                .requireStatus(201)
                .at("/event");

        publish(reader, "{\"topic\":\"a\",\"type\":\"b\"}").requireStatus(403);
        SERVER.get(publisher, "/v1/events/" + event).requireStatus(403);
        SERVER.get(publisher, "/v1/events?topic=a").requireStatus(403);
        SERVER.get(publisher, "/v1/topics").requireStatus(403);
        SERVER.get(publisher, "/v1/events:tail?topic=a").requireStatus(403);
        SERVER.get(reader, "/v1/events/" + event).requireStatus(200);
        SERVER.get(SERVER.bootstrap(), "/v1/events/" + event).requireStatus(404);
    }

    @Test
    void restricted_keys_have_no_access_to_events() {
        String key = SERVER.post(
                        SERVER.bootstrap(),
                        "/v1/keys",
                        "{\"name\":\"r\",\"scopes\":[\"manage\"],\"queues\":[\"carillon.publish\",\"q\"]}")
                .requireStatus(201)
                .at("/key");
        publish(key, "{\"topic\":\"a\",\"type\":\"b\"}").requireStatus(403);
        SERVER.get(key, "/v1/events?topic=a").requireStatus(403);
        SERVER.get(key, "/v1/subscriptions").requireStatus(403);
        String target = "\"target\":{\"event\":{\"topic\":\"a\",\"type\":\"b\"}},\"queue\":\"q\"";

        assertThat(SERVER.post(key, "/v1/runs", "{" + target + "}")
                        .requireStatus(403)
                        .at("/detail"))
                .contains("Events belong to the whole project");
        SERVER.put(key, "/v1/schedules/e", "{\"when\":{\"cron\":\"0 2 * * *\"}," + target + "}")
                .requireStatus(403);
        assertThat(SERVER.post(
                                key,
                                "/v1/schedules:batch",
                                "{\"schedules\":[{\"name\":\"e\",\"when\":{\"cron\":\"0 2 * * *\"}," + target + "}]}")
                        .requireStatus(200)
                        .at("/items/0/error/status"))
                .isEqualTo("403");
    }
}
