package io.carillon.server.access;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.RestTestServer;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A key that is restricted to endpoints uses these endpoints, with their runs, schedules and queues. */
class RestrictedEndpointsTest {
    private static final String TO = "{\"target\":{\"endpoint\":\"%s\"},\"after\":\"1h\"%s}";

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    private static String admin;
    private static String key;

    @BeforeAll
    static void create_endpoints() {
        admin = SERVER.createProject("shop");
        key = restricted("\"endpoints\":[\"orders.*\",\"mail\"]");
        for (String name : List.of("orders.eu", "mail", "other"))
            SERVER.post(admin, "/v1/endpoints", endpoint(name, "https://a.example/" + name))
                    .requireStatus(201);
    }

    @Test
    void it_sees_and_changes_its_endpoints_and_no_others() {
        assertThat(SERVER.get(key, "/v1/endpoints").requireStatus(200).text())
                .contains("orders.eu", "mail")
                .doesNotContain("other");
        SERVER.get(key, "/v1/endpoints/orders.eu").requireStatus(200);
        SERVER.put(key, "/v1/endpoints/mail", "{\"url\":\"https://a.example/changed\"}")
                .requireStatus(200);
        SERVER.get(key, "/v1/endpoints/other").requireStatus(404);
        SERVER.put(key, "/v1/endpoints/other", "{\"url\":\"https://evil.example/\"}")
                .requireStatus(404);
        SERVER.post(key, "/v1/endpoints/other/rotate", "{}").requireStatus(404);
        SERVER.delete(key, "/v1/endpoints/other").requireStatus(404);
        SERVER.post(key, "/v1/endpoints", endpoint("another", "https://a.example/"))
                .requireStatus(403);
        SERVER.post(key, "/v1/endpoints", endpoint("orders.us", "https://a.example/"))
                .requireStatus(201);
        SERVER.delete(key, "/v1/endpoints/orders.us").requireStatus(204);
        SERVER.get(SERVER.bootstrap(), "/v1/endpoints/mail").requireStatus(404);
    }

    @Test
    void it_enqueues_and_schedules_messages_to_its_endpoints_only() {
        String own = SERVER.post(key, "/v1/runs", TO.formatted("orders.eu", ""))
                .requireStatus(201)
                .at("/run");
        String hidden = SERVER.post(admin, "/v1/runs", TO.formatted("other", ""))
                .requireStatus(201)
                .at("/run");
        assertThat(SERVER.post(key, "/v1/runs", TO.formatted("other", ""))
                        .requireStatus(403)
                        .text())
                .contains("endpoints [orders.*, mail]");
        SERVER.post(key, "/v1/runs", "{\"target\":{\"url\":\"https://a.example/\"}}")
                .requireStatus(403);
        SERVER.post(key, "/v1/runs", "{\"target\":{\"handler\":\"any\"},\"queue\":\"mail\"}")
                .requireStatus(403);
        SERVER.get(key, "/v1/runs/" + own).requireStatus(200);
        SERVER.get(key, "/v1/runs/" + hidden).requireStatus(404);
        SERVER.post(key, "/v1/runs/" + hidden + "/cancel", null).requireStatus(404);
        assertThat(SERVER.get(key, "/v1/runs").requireStatus(200).text())
                .contains(own)
                .doesNotContain(hidden);
        assertThat(SERVER.get(key, "/v1/runs?queue=endpoint.orders.eu&handler=webhook")
                        .requireStatus(200)
                        .text())
                .contains(own);
        String when = "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"endpoint\":\"%s\"}}";
        SERVER.put(key, "/v1/schedules/mine", when.formatted("mail")).requireStatus(201);
        SERVER.put(key, "/v1/schedules/theirs", when.formatted("other")).requireStatus(403);
        SERVER.get(key, "/v1/queues/endpoint.orders.eu").requireStatus(200);
        SERVER.post(key, "/v1/queues/endpoint.other/pause", null).requireStatus(404);
    }

    @Test
    void it_tests_its_endpoints_and_no_urls() {
        String closedPort = "http://127.0.0.1:1/";
        SERVER.post(admin, "/v1/endpoints", endpoint("orders.test", closedPort)).requireStatus(201);

        assertThat(SERVER.post(key, "/v1/webhooks/test", "{\"target\":{\"endpoint\":\"orders.test\"}}")
                        .requireStatus(200)
                        .json()
                        .has("verdict"))
                .isTrue();
        SERVER.post(key, "/v1/webhooks/test", "{\"target\":{\"url\":\"" + closedPort + "\"}}")
                .requireStatus(403);
        SERVER.post(key, "/v1/webhooks/test", "{\"target\":{\"endpoint\":\"other\"}}")
                .requireStatus(403);
    }

    @Test
    void endpoints_are_added_to_queues_and_handlers() {
        String both = restricted("\"queues\":[\"work\"],\"handlers\":[\"build\"],\"endpoints\":[\"mail\"]");

        SERVER.post(both, "/v1/runs", "{\"target\":{\"handler\":\"build\"},\"queue\":\"work\",\"after\":\"1h\"}")
                .requireStatus(201);
        SERVER.post(both, "/v1/runs", TO.formatted("mail", "")).requireStatus(201);
        SERVER.post(both, "/v1/runs", "{\"target\":{\"handler\":\"build\"},\"queue\":\"mail\"}")
                .requireStatus(403);
        SERVER.post(both, "/v1/runs", TO.formatted("orders.eu", "")).requireStatus(403);
        // Only the list endpoints shows endpoints themselves.
        String byQueue = restricted("\"queues\":[\"endpoint.mail\"]");
        SERVER.post(byQueue, "/v1/runs", TO.formatted("mail", "")).requireStatus(201);
        SERVER.get(byQueue, "/v1/endpoints/mail").requireStatus(404);
    }

    @Test
    void unique_keys_of_endpoints_are_apart() {
        String first = SERVER.post(key, "/v1/runs", TO.formatted("mail", ",\"key\":\"k\""))
                .requireStatus(201)
                .at("/run");
        SERVER.post(key, "/v1/runs", TO.formatted("orders.eu", ",\"key\":\"k\""))
                .requireStatus(201);
        SERVER.post(admin, "/v1/runs", "{\"target\":{\"url\":\"https://a.example/\"},\"after\":\"1h\",\"key\":\"k\"}")
                .requireStatus(201);
        assertThat(SERVER.post(key, "/v1/runs", TO.formatted("mail", ",\"key\":\"k\""))
                        .requireStatus(200)
                        .at("/run"))
                .isEqualTo(first);
        assertThat(SERVER.get(key, "/v1/runs/" + first).at("/key")).isEqualTo("k");
        SERVER.post(key, "/v1/runs", TO.formatted("mail", ",\"fifoKey\":\"endpoint.mail:k\""))
                .requireStatus(201);
        SERVER.post(key, "/v1/runs", TO.formatted("mail", ",\"fifoKey\":\"k\"")).requireStatus(403);
    }

    private static String endpoint(String name, String url) {
        return "{\"name\":\"" + name + "\",\"url\":\"" + url + "\"}";
    }

    private static String restricted(String lists) {
        return SERVER.post(admin, "/v1/keys", "{\"name\":\"k\",\"scopes\":[\"manage\"]," + lists + "}")
                .requireStatus(201)
                .at("/key");
    }
}
