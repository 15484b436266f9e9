package io.carillon.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.RestTestServer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.node.ObjectNode;

/**
 * What programs read besides the body: where a new resource is, whether it changed, and how much of a quota is left.
 */
class ResponseHeadersTest {
    private static final String DAILY =
            "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"handler\":\"a\"},\"payload\":{\"a\":1}}";
    private static final String LATER = "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\"%s}";

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    private static String key() {
        return SERVER.bootstrap();
    }

    private static String location(RestTestServer.Reply made) {
        return made.header("Location").orElseThrow();
    }

    @Test
    void a_created_resource_is_at_its_location() {
        List<RestTestServer.Reply> made = List.of(
                SERVER.put(key(), "/v1/schedules/located", DAILY),
                SERVER.post(key(), "/v1/schedules/located/trigger", null),
                SERVER.post(key(), "/v1/runs", LATER.formatted("")),
                SERVER.post(key(), "/v1/keys", "{\"name\":\"k\",\"scopes\":[\"read\"]}"),
                SERVER.post(key(), "/v1/projects", "{\"name\":\"located\"}"),
                SERVER.post(key(), "/v1/endpoints", "{\"name\":\"located\",\"url\":\"https://a.example/x\"}"));

        for (RestTestServer.Reply reply : made) {
            reply.requireStatus(201);
            SERVER.get(key(), location(reply)).requireStatus(200);
        }
        assertThat(made).extracting(ResponseHeadersTest::location).doesNotHaveDuplicates();
        RestTestServer.Reply bulk = SERVER.post(
                        key(), "/v1/bulk-actions", "{\"action\":\"cancel\",\"filter\":{\"state\":\"waiting\"}}")
                .requireStatus(202);
        assertThat(SERVER.get(key(), location(bulk)).requireStatus(200).at("/id"))
                .isEqualTo(bulk.at("/id"));
    }

    @Test
    void a_repeated_request_gets_the_same_location() {
        String body = LATER.formatted("");
        String[] header = {"Idempotency-Key", "located"};
        RestTestServer.Reply first =
                SERVER.send(key(), "POST", "/v1/runs", body, header).requireStatus(201);
        RestTestServer.Reply second =
                SERVER.send(key(), "POST", "/v1/runs", body, header).requireStatus(201);

        assertThat(second.header("Idempotency-Replayed")).contains("true");
        assertThat(location(second)).isEqualTo(location(first)).endsWith(first.at("/run"));
    }

    @Test
    void an_enqueue_returns_the_run_and_so_does_its_duplicate() {
        String body = LATER.formatted(",\"key\":\"shown\",\"priority\":\"high\"");
        RestTestServer.Reply made = SERVER.post(key(), "/v1/runs", body).requireStatus(201);
        RestTestServer.Reply duplicate = SERVER.post(key(), "/v1/runs", body).requireStatus(200);

        ObjectNode read = (ObjectNode) SERVER.get(key(), location(made)).json();
        assertThat(read.remove("payload")).isNotNull();
        assertThat(made.json().path("current")).isEqualTo(read);
        assertThat(made.at("/current/priority")).isEqualTo("high");
        assertThat(made.at("/current/state")).isEqualTo("waiting");
        assertThat(duplicate.at("/current/id")).isEqualTo(made.at("/run"));
        assertThat(duplicate.header("Location")).isEmpty();
    }

    @Test
    void what_the_client_has_already_is_not_sent_again() {
        SERVER.put(key(), "/v1/schedules/known", DAILY).requireStatus(201);
        for (String path : List.of("/v1/schedules/known", "/v1/openapi.json", "/v1/keys")) {
            String tag =
                    SERVER.get(key(), path).requireStatus(200).header("ETag").orElseThrow();

            for (String known : List.of(tag, "W/" + tag, "\"other\", " + tag, "*")) {
                RestTestServer.Reply reply = SERVER.send(key(), "GET", path, null, "If-None-Match", known)
                        .requireStatus(304);
                assertThat(reply.text()).isEmpty();
                assertThat(reply.header("ETag")).contains(tag);
            }
            SERVER.send(key(), "GET", path, null, "If-None-Match", "\"other\"").requireStatus(200);
        }
        SERVER.send(key(), "GET", "/v1/schedules/none", null, "If-None-Match", "*")
                .requireStatus(404);
    }

    @Test
    void a_change_without_a_new_version_is_sent_and_prevents_no_update() {
        String path = "/v1/schedules/ticking";
        SERVER.put(key(), path, DAILY).requireStatus(201);
        String tag = SERVER.get(key(), path).header("ETag").orElseThrow();
        SERVER.database().execute("UPDATE carillon.schedule SET ticks = 7 WHERE name = 'ticking'");

        RestTestServer.Reply again =
                SERVER.send(key(), "GET", path, null, "If-None-Match", tag).requireStatus(200);

        assertThat(again.at("/ticks")).isEqualTo("7");
        SERVER.send(key(), "PUT", path, DAILY.replace("0 2", "0 3"), "If-Match", tag)
                .requireStatus(200);
        SERVER.send(key(), "PUT", path, DAILY, "If-Match", tag).requireStatus(412);
    }

    @Test
    void responses_say_how_many_requests_the_project_may_send() {
        String limited = SERVER.createProject("limited");
        SERVER.put(key(), "/v1/projects/limited/quota", "{\"requestsPerSecond\":2}")
                .requireStatus(200);
        RestTestServer.Reply last = SERVER.get(limited, "/v1/schedules");
        assertThat(last.header("RateLimit-Limit")).isPresent();
        long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        while (last.status() != 429 && System.nanoTime() < deadline) last = SERVER.get(limited, "/v1/schedules");

        last.requireStatus(429);
        assertThat(last.header("RateLimit-Limit")).contains("2");
        assertThat(last.header("RateLimit-Remaining")).contains("0");
        assertThat(last.header("RateLimit-Reset")).contains("1");
        assertThat(last.header("RateLimit-Policy")).contains("2;w=1");
        assertThat(SERVER.get(null, "/healthz").header("RateLimit-Limit")).isEmpty();
    }
}
