package io.carillon.server.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.server.RestTestServer;
import io.carillon.server.openapi.OpenApiDescription;
import io.carillon.server.openapi.SampleRequests;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** To a key that is restricted to queues or handlers, the rest of its project does not exist. */
class RestrictedKeysTest {
    private static final String ROWS = """
            SELECT string_agg(part, ' ') FROM (
              SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) AS part FROM carillon.schedule t
              UNION ALL SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) FROM carillon.run t
              UNION ALL SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) FROM carillon.run_history t
              UNION ALL SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) FROM carillon.dead_run t
              UNION ALL SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) FROM carillon.lane t
              UNION ALL SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) FROM carillon.bulk_action t
              UNION ALL SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), ''))
                FROM carillon.endpoint t
              UNION ALL SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), ''))
                FROM carillon.endpoint_secret t
              UNION ALL SELECT count(*)::text FROM carillon.api_key
              UNION ALL SELECT count(*)::text FROM carillon.project) parts
            """;

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    private static String admin;
    private static String byQueue;
    private static String byHandler;
    private static String byEndpoint;
    private static String run;
    private static String bulk;

    @BeforeAll
    static void create_hidden_resources() {
        admin = SERVER.createProject("shop");
        byQueue = restricted("\"queues\":[\"orders.*\",\"mail\"]");
        byHandler = restricted("\"handlers\":[\"orders.*\"]");
        byEndpoint = restricted("\"endpoints\":[\"shop.*\",\"mail\"]");
        SERVER.post(admin, "/v1/endpoints", "{\"name\":\"hidden\",\"url\":\"https://hidden.example/\"}")
                .requireStatus(201);
        SERVER.put(
                        admin,
                        "/v1/schedules/hidden",
                        "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"handler\":\"hidden\"},\"queue\":\"hidden\"}")
                .requireStatus(201);
        run = SERVER.post(
                        admin,
                        "/v1/runs",
                        "{\"target\":{\"handler\":\"hidden\"},\"queue\":\"hidden\",\"after\":\"1h\"}")
                .requireStatus(201)
                .at("/run");
        SERVER.put(admin, "/v1/queues/hidden/limits", "{\"maxRunning\":2}").requireStatus(200);
        bulk = SERVER.post(
                        admin,
                        "/v1/bulk-actions",
                        "{\"action\":\"redrive\",\"filter\":{\"state\":\"dead\",\"queue\":\"hidden\"}}")
                .requireStatus(202)
                .at("/id");
        await().until(() ->
                !SERVER.get(admin, "/v1/bulk-actions/" + bulk).at("/state").equals("running"));
    }

    static Stream<OpenApiDescription.Operation> operations() {
        return OpenApiDescription.instance().operations().stream()
                .filter(operation -> !operation.permission().equals("public"))
                .filter(operation -> !operation.isStream());
    }

    @ParameterizedTest
    @MethodSource("operations")
    void no_operation_shows_or_changes_what_is_not_in_the_lists(OpenApiDescription.Operation operation) {
        String before = SERVER.query(ROWS).text();
        List<String> names =
                List.of("hidden", PlaintextApiKey.parse(admin).orElseThrow().id(), bulk);
        for (String key : List.of(byQueue, byHandler, byEndpoint))
            for (String name : names) {
                RestTestServer.Reply reply = SERVER.send(
                        key,
                        operation.method(),
                        SampleRequests.path(operation, name, run),
                        SampleRequests.body(operation));
                assertThat(reply.text()).as("%s", operation).doesNotContain("hidden", run, bulk);
                if (operation.path().equals("/v1/schedules:batch")) {
                    assertThat(reply.at("/items/0/error/status")).isEqualTo("403");
                    continue;
                }
                boolean reads =
                        operation.method().equals("GET") || operation.path().endsWith(":preview");
                if (!reads || operation.path().contains("{"))
                    assertThat(reply.status())
                            .as("%s %s: %s", operation, name, reply.text())
                            .isIn(403, 404);
            }
        assertThat(SERVER.query(ROWS).text()).as("rows after " + operation).isEqualTo(before);
    }

    @Test
    void the_stream_is_closed_to_restricted_keys() throws Exception {
        URI stream = URI.create("http://127.0.0.1:" + SERVER.server().port() + "/v1/stream");
        HttpURLConnection connection = (HttpURLConnection) stream.toURL().openConnection();
        connection.setRequestProperty("Authorization", "Bearer " + byQueue);
        // Reads the headers only: an open stream does not end.
        assertThat(connection.getResponseCode()).isEqualTo(403);
        connection.disconnect();
    }

    @Test
    void a_key_for_queues_uses_these_queues() {
        String target = "{\"target\":{\"handler\":\"any\"},\"after\":\"1h\",\"queue\":\"%s\"}";
        String own = SERVER.post(byQueue, "/v1/runs", target.formatted("orders.eu"))
                .requireStatus(201)
                .at("/run");
        SERVER.post(byQueue, "/v1/runs", target.formatted("mail")).requireStatus(201);
        SERVER.post(byQueue, "/v1/runs", target.formatted("mailing")).requireStatus(403);
        SERVER.post(byQueue, "/v1/runs", target.formatted("orders")).requireStatus(403);
        assertThat(SERVER.post(byQueue, "/v1/runs", "{\"target\":{\"handler\":\"any\"}}")
                        .requireStatus(403)
                        .text())
                .contains("orders.*", "mail");
        SERVER.get(byQueue, "/v1/runs/" + own).requireStatus(200);
        SERVER.get(byQueue, "/v1/runs/" + own + "/explain").requireStatus(200);
        assertThat(SERVER.get(byQueue, "/v1/runs").requireStatus(200).text()).contains(own);
        assertThat(SERVER.get(byQueue, "/v1/queues").requireStatus(200).text()).contains("orders.eu", "mail");
        SERVER.post(byQueue, "/v1/queues/orders.eu/pause", null).requireStatus(200);
        String schedule =
                "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"handler\":\"any\"},\"queue\":\"orders.eu\"}";
        SERVER.put(byQueue, "/v1/schedules/mine", schedule).requireStatus(201);
        SERVER.put(byQueue, "/v1/schedules/hidden", schedule).requireStatus(403);
        SERVER.post(byQueue, "/v1/schedules/mine/trigger", null).requireStatus(201);
        String action = "{\"action\":\"cancel\",\"filter\":{\"state\":\"waiting\"%s}}";
        SERVER.post(byQueue, "/v1/bulk-actions", action.formatted("")).requireStatus(403);
        String started = SERVER.post(byQueue, "/v1/bulk-actions", action.formatted(",\"queue\":\"orders.eu\""))
                .requireStatus(202)
                .at("/id");
        SERVER.get(byQueue, "/v1/bulk-actions/" + started).requireStatus(200);
        SERVER.get(byHandler, "/v1/bulk-actions/" + started).requireStatus(404);
        await().until(() -> SERVER.get(admin, "/v1/runs/" + own).at("/state").equals("cancelled"));
    }

    @Test
    void a_key_for_handlers_uses_these_handlers_in_any_queue() {
        String own = SERVER.post(
                        byHandler,
                        "/v1/runs",
                        "{\"target\":{\"handler\":\"orders.ship\"},\"queue\":\"elsewhere\",\"after\":\"1h\"}")
                .requireStatus(201)
                .at("/run");
        SERVER.post(byHandler, "/v1/runs", "{\"target\":{\"handler\":\"mail\"},\"after\":\"1h\"}")
                .requireStatus(403);
        SERVER.post(byHandler, "/v1/runs", "{\"target\":{\"url\":\"https://a.example/\"},\"after\":\"1h\"}")
                .requireStatus(403);
        SERVER.get(byQueue, "/v1/runs/" + own).requireStatus(404);
        SERVER.post(byHandler, "/v1/runs/" + own + "/cancel", null).requireStatus(200);
        SERVER.get(byHandler, "/v1/queues/elsewhere").requireStatus(404);
    }

    @Test
    void pages_go_on_behind_what_is_not_shown() {
        for (int i = 0; i < 3; i++)
            SERVER.post(
                            admin,
                            "/v1/runs",
                            "{\"target\":{\"handler\":\"hidden\"},\"queue\":\"hidden\",\"after\":\"1h\"}")
                    .requireStatus(201);
        String own = SERVER.post(
                        byQueue,
                        "/v1/runs",
                        "{\"target\":{\"handler\":\"any\"},\"queue\":\"orders.us\",\"after\":\"1h\"}")
                .requireStatus(201)
                .at("/run");
        for (int i = 0; i < 3; i++)
            SERVER.post(
                            admin,
                            "/v1/runs",
                            "{\"target\":{\"handler\":\"hidden\"},\"queue\":\"hidden\",\"after\":\"1h\"}")
                    .requireStatus(201);
        StringBuilder seen = new StringBuilder();
        RestTestServer.Reply page = SERVER.get(byQueue, "/v1/runs?limit=2").requireStatus(200);
        for (int i = 0; i < 50; i++) {
            seen.append(page.text());
            if (!page.json().has("next")) break;
            page = SERVER.get(byQueue, "/v1/runs?limit=2&cursor=" + page.at("/next"))
                    .requireStatus(200);
        }
        assertThat(seen.toString()).contains(own).doesNotContain("hidden");
    }

    @Test
    void a_cursor_does_not_show_the_item_that_it_follows() {
        for (String name : List.of("hidden-a", "hidden-b"))
            SERVER.put(
                            admin,
                            "/v1/schedules/" + name,
                            "{\"when\":{\"cron\":\"0 2 * * *\"},"
                                    + "\"target\":{\"handler\":\"hidden\"},\"queue\":\"hidden\"}")
                    .requireStatus(201);

        RestTestServer.Reply page = SERVER.get(byQueue, "/v1/schedules?limit=1").requireStatus(200);

        assertThat(page.json().path("items")).isEmpty();
        byte[] cursor = Base64.getUrlDecoder().decode(page.at("/next"));
        assertThat(new String(cursor, StandardCharsets.ISO_8859_1)).doesNotContain("hidden");
        assertThat(SERVER.get(byQueue, "/v1/schedules?limit=1").at("/next")).isEqualTo(page.at("/next"));
    }

    @Test
    void a_list_that_is_filtered_by_what_is_hidden_is_empty_and_has_no_next_page() {
        for (int i = 0; i < 2; i++)
            SERVER.post(
                            admin,
                            "/v1/runs",
                            "{\"target\":{\"handler\":\"hidden\"},\"queue\":\"hidden\",\"after\":\"1h\"}")
                    .requireStatus(201);
        for (String key : List.of(byQueue, byHandler, byEndpoint))
            for (String filter : List.of("queue=hidden&handler=hidden", "queue=endpoint.hidden", "handler=hidden")) {
                if (key.equals(byQueue) && filter.equals("handler=hidden")) continue;
                if (key.equals(byHandler) && filter.equals("queue=endpoint.hidden")) continue;
                assertThat(SERVER.get(key, "/v1/runs?limit=1&" + filter)
                                .requireStatus(200)
                                .text())
                        .as(filter)
                        .isEqualTo("{\"items\":[]}");
            }
        SERVER.get(byQueue, "/v1/runs?schedule=hidden").requireStatus(404);
        String own = SERVER.post(
                        byHandler,
                        "/v1/runs",
                        "{\"target\":{\"handler\":\"orders.a\"},\"queue\":\"shared\",\"after\":\"1h\"}")
                .requireStatus(201)
                .at("/run");
        assertThat(SERVER.get(byHandler, "/v1/runs?queue=shared").text()).contains(own);
        assertThat(SERVER.get(byHandler, "/v1/runs?handler=orders.a").text()).contains(own);
    }

    @Test
    void a_restricted_key_occupies_no_key_of_runs_that_it_does_not_see() {
        String enqueue = "{\"target\":{\"handler\":\"%s\"},\"queue\":\"%s\",\"after\":\"1h\",\"%s\":\"%s\"}";
        // Unique keys belong to the handler, in all queues.
        assertThat(SERVER.post(byQueue, "/v1/runs", enqueue.formatted("any", "mail", "key", "k"))
                        .requireStatus(403)
                        .text())
                .contains("unique key");
        SERVER.post(byHandler, "/v1/runs", enqueue.formatted("orders.ship", "mail", "key", "k"))
                .requireStatus(201);
        for (String limit : List.of("fifoKey", "concurrencyKey")) {
            assertThat(SERVER.post(byQueue, "/v1/runs", enqueue.formatted("any", "mail", limit, "k"))
                            .requireStatus(403)
                            .text())
                    .contains("mail:");
            SERVER.post(byQueue, "/v1/runs", enqueue.formatted("any", "mail", limit, "orders.eu:k"))
                    .requireStatus(403);
            SERVER.post(byQueue, "/v1/runs", enqueue.formatted("any", "mail", limit, "mail:k"))
                    .requireStatus(201);
            SERVER.post(byHandler, "/v1/runs", enqueue.formatted("orders.ship", "mail", limit, "mail:k"))
                    .requireStatus(403);
            SERVER.post(byHandler, "/v1/runs", enqueue.formatted("orders.ship", "mail", limit, "orders.ship:k"))
                    .requireStatus(201);
        }
        String rate = "{\"target\":{\"handler\":\"any\"},\"queue\":\"mail\",\"after\":\"1h\",\"rateKey\":\"%s\","
                + "\"rateStarts\":1,\"rateIn\":\"1m\"}";
        SERVER.post(byQueue, "/v1/runs", rate.formatted("k")).requireStatus(403);
        SERVER.post(byQueue, "/v1/runs", rate.formatted("mail:k")).requireStatus(201);
        String batch =
                "{\"target\":{\"handler\":\"any\"},\"queue\":\"mail\",\"after\":\"1h\",\"runs\":[{\"payload\":1}],"
                        + "\"fifoKey\":\"k\"}";
        SERVER.post(byQueue, "/v1/runs:batch", batch).requireStatus(403);
    }

    @Test
    void a_restricted_key_is_no_admin_and_keeps_its_lists_when_it_is_rotated() {
        SERVER.post(admin, "/v1/keys", "{\"name\":\"k\",\"scopes\":[\"admin\"],\"queues\":[\"a\"]}")
                .requireStatus(422);
        for (String pattern : List.of("", "*", "A", "a*b", "a b", "orders.**"))
            SERVER.post(admin, "/v1/keys", "{\"name\":\"k\",\"scopes\":[\"read\"],\"queues\":[\"" + pattern + "\"]}")
                    .requireStatus(422);
        SERVER.post(admin, "/v1/keys", "{\"name\":\"k\",\"scopes\":[\"admin\"],\"endpoints\":[\"a\"]}")
                .requireStatus(422);
        String id = PlaintextApiKey.parse(
                        restricted("\"queues\":[\"a.*\"],\"handlers\":[\"b\"],\"endpoints\":[\"c.*\"]"))
                .orElseThrow()
                .id();
        RestTestServer.Reply rotated =
                SERVER.post(admin, "/v1/keys/" + id + "/rotate", null).requireStatus(201);
        assertThat(rotated.at("/queues/0")).isEqualTo("a.*");
        assertThat(rotated.at("/handlers/0")).isEqualTo("b");
        assertThat(rotated.at("/endpoints/0")).isEqualTo("c.*");
    }

    private static String restricted(String lists) {
        return SERVER.post(admin, "/v1/keys", "{\"name\":\"k\",\"scopes\":[\"manage\"]," + lists + "}")
                .requireStatus(201)
                .at("/key");
    }
}
