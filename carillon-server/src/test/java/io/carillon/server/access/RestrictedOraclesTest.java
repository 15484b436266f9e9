package io.carillon.server.access;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.RestTestServer;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A restricted key learns neither content nor names of what it does not see from lists and stored responses. */
class RestrictedOraclesTest {
    private static final String RUN =
            "{\"target\":{\"handler\":\"%s\"},\"queue\":\"%s\",\"after\":\"1h\",\"payload\":{\"note\":\"%s\"}}";

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    private static String admin;
    private static String byQueue;
    private static String byHandler;
    private static String byEndpoint;

    @BeforeAll
    static void create_hidden_resources() {
        admin = SERVER.createProject("shop");
        byQueue = restricted("\"queues\":[\"orders.*\"]");
        byHandler = restricted("\"handlers\":[\"ship\"]");
        byEndpoint = restricted("\"endpoints\":[\"mail\"]");
        for (int i = 0; i < 2; i++)
            SERVER.post(admin, "/v1/runs", RUN.formatted("bill", "hidden", "swordfish"))
                    .requireStatus(201);
    }

    private static String restricted(String lists) {
        return SERVER.post(admin, "/v1/keys", "{\"name\":\"k\",\"scopes\":[\"manage\"]," + lists + "}")
                .requireStatus(201)
                .at("/key");
    }

    @Test
    void a_search_for_a_text_is_limited_to_runs_that_the_key_sees() {
        SERVER.post(byQueue, "/v1/runs", RUN.formatted("any", "orders.eu", "herring"))
                .requireStatus(201);
        for (String key : List.of(byQueue, byHandler, byEndpoint))
            for (String text : List.of("payload=swordfish", "payload=haddock", "error=swordfish"))
                for (String filter : List.of("", "&queue=hidden", "&notQueue=orders.eu"))
                    assertThat(SERVER.get(key, "/v1/runs?limit=1&" + text + filter)
                                    .requireStatus(403)
                                    .text())
                            .contains("Your key is restricted to");

        assertThat(SERVER.get(byQueue, "/v1/runs?payload=herring&queue=orders.eu")
                        .requireStatus(200)
                        .json()
                        .path("items"))
                .hasSize(1);
        SERVER.get(byHandler, "/v1/runs?error=herring&handler=ship").requireStatus(200);
        SERVER.get(byEndpoint, "/v1/runs?error=herring&queue=endpoint.mail").requireStatus(200);
        assertThat(SERVER.get(admin, "/v1/runs?payload=swordfish")
                        .requireStatus(200)
                        .json()
                        .path("items"))
                .hasSize(2);
    }

    @Test
    void a_prefix_does_not_show_whether_hidden_schedules_have_it() {
        String schedule = "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"handler\":\"any\"},\"queue\":\"%s\"}";
        for (String name : List.of("payroll.a", "payroll.b", "payroll.c"))
            SERVER.put(admin, "/v1/schedules/" + name, schedule.formatted("hidden"))
                    .requireStatus(201);
        SERVER.put(admin, "/v1/schedules/zoo", schedule.formatted("orders.eu")).requireStatus(201);

        assertThat(hasNext(SERVER.get(byQueue, "/v1/schedules?limit=1&prefix=payroll")))
                .as("a page with the prefix of hidden schedules")
                .isEqualTo(hasNext(SERVER.get(byQueue, "/v1/schedules?limit=1&prefix=other")));
        RestTestServer.Reply page = SERVER.get(byQueue, "/v1/schedules?limit=1&prefix=zo");
        for (int i = 0; i < 10 && page.json().has("next"); i++)
            page = SERVER.get(byQueue, "/v1/schedules?limit=1&prefix=zo&cursor=" + page.at("/next"));
        assertThat(page.json().path("items").path(0).path("name").stringValue()).isEqualTo("zoo");
    }

    private static boolean hasNext(RestTestServer.Reply page) {
        return page.requireStatus(200).json().has("next");
    }

    @Test
    void idempotency_keys_of_a_restricted_key_are_apart() {
        String run = RUN.formatted("any", "orders.eu", "a");
        String first = enqueue(byQueue, run, "order-1").requireStatus(201).at("/run");
        assertThat(enqueue(byQueue, run, "order-1").at("/run")).isEqualTo(first);

        String other = enqueue(admin, RUN.formatted("bill", "hidden", "b"), "order-1")
                .requireStatus(201)
                .at("/run");

        assertThat(other).isNotEqualTo(first);
        String second = restricted("\"queues\":[\"orders.*\"]");
        assertThat(enqueue(second, run, "order-1").at("/run"))
                .as("a key with the same restriction, such as a rotated one")
                .isEqualTo(first);
        assertThat(enqueue(restricted("\"queues\":[\"orders.eu\"]"), run, "order-1")
                        .requireStatus(201)
                        .at("/run"))
                .isNotEqualTo(first);
    }

    private static RestTestServer.Reply enqueue(String key, String run, String idempotencyKey) {
        return SERVER.send(key, "POST", "/v1/runs", run, "Idempotency-Key", idempotencyKey);
    }
}
