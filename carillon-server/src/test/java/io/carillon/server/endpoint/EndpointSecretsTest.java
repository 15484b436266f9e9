package io.carillon.server.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.CarillonException;
import io.carillon.server.CarillonServer;
import io.carillon.server.RestTestServer;
import io.carillon.server.WebhookReceiver;
import io.carillon.server.hooks.ServerWebhooks;
import io.carillon.spi.Keyring;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The secrets of an endpoint reach its origin only: no key with {@code enqueue}, no change of the URL and no change in
 * the database sends them elsewhere. They are encrypted again when the master key changes.
 */
class EndpointSecretsTest {
    private static final String TOKEN = "Bearer t0ps3cret";

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    /** The receiver of the endpoint. */
    private static WebhookReceiver owner;
    /** The receiver of an attacker, another origin. */
    private static WebhookReceiver attacker;

    private static String key;
    private static String enqueuer;

    @BeforeAll
    static void createEndpoint() throws Exception {
        owner = new WebhookReceiver();
        attacker = new WebhookReceiver();
        key = SERVER.createProject("sealed");
        enqueuer = SERVER.createKeyAs(key, "enqueue");
        create("orders", owner.url("/orders"), secrets()).requireStatus(201);
    }

    @AfterAll
    static void stop() {
        owner.close();
        attacker.close();
    }

    private static String secrets() {
        return ",\"secrets\":[{\"name\":\"main\"},{\"name\":\"token\",\"header\":\"authorization\",\"value\":\"" + TOKEN
                + "\"}]";
    }

    private static RestTestServer.Reply create(String name, String url, String more) {
        return SERVER.post(key, "/v1/endpoints", "{\"name\":\"%s\",\"url\":\"%s\"%s}".formatted(name, url, more));
    }

    private static RestTestServer.Reply update(String name, String url, String more) {
        return SERVER.put(key, "/v1/endpoints/" + name, "{\"url\":\"%s\"%s}".formatted(url, more));
    }

    private static String enqueue(String target) {
        return SERVER.post(enqueuer, "/v1/runs", "{\"target\":" + target + "}")
                .requireStatus(201)
                .at("/run");
    }

    private static void assertNothingLeaked(String path) {
        assertThat(attacker.received(path))
                .allSatisfy(request -> assertThat(request.headers().toString())
                        .doesNotContain("t0ps3cret", "webhook-signature", "whsec_"));
    }

    @Test
    void a_key_with_enqueue_cannot_send_a_secret_to_its_own_url() {
        String url = attacker.url("/mine");
        for (String field : List.of(
                "\"secret\":\"main\"",
                "\"secret\":\"orders\"",
                "\"secretHeaders\":{\"x-a\":\"token\"}",
                "\"endpoint\":\"orders\"",
                "\"secrets\":[{\"name\":\"token\"}]"))
            for (String path : List.of("/v1/runs", "/v1/runs:batch"))
                SERVER.post(
                                enqueuer,
                                path,
                                "{\"target\":{\"url\":\"%s\",%s},\"runs\":[{}]}"
                                        .formatted(url, field)
                                        .replace(path.equals("/v1/runs") ? ",\"runs\":[{}]" : "\u0000", ""))
                        .requireStatus(422);
        String run = enqueue("{\"url\":\"" + url + "\"}");
        SERVER.runDue();
        assertThat(attacker.received("/mine")).hasSize(1);
        assertNothingLeaked("/mine");

        SERVER.post(enqueuer, "/v1/webhooks/test", "{\"target\":{\"endpoint\":\"orders\"}}")
                .requireStatus(403);
        SERVER.post(enqueuer, "/v1/runs/" + run + "/replay", null).requireStatus(403);
        SERVER.put(enqueuer, "/v1/endpoints/orders", "{\"url\":\"" + url + "\"}")
                .requireStatus(403);
        SERVER.post(enqueuer, "/v1/endpoints", "{\"name\":\"own\",\"url\":\"" + url + "\"}")
                .requireStatus(403);
        SERVER.get(enqueuer, "/v1/endpoints/orders").requireStatus(403);
        SERVER.post(enqueuer, "/v1/endpoints/orders/rotate", null).requireStatus(403);
        // A replay by an operator sends no secret to a URL either.
        SERVER.post(key, "/v1/runs/" + run + "/replay", null).requireStatus(200);
        assertThat(attacker.received("/mine")).hasSize(2);
        assertNothingLeaked("/mine");
    }

    @Test
    void a_message_cannot_replace_a_header_of_the_endpoint_or_move_the_request() {
        assertThat(SERVER.post(
                                enqueuer,
                                "/v1/runs",
                                "{\"target\":{\"endpoint\":\"orders\",\"headers\":{\"Authorization\":\"mine\"}}}")
                        .requireStatus(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/target/headers");
        create(
                        "plain-name",
                        owner.url("/plain"),
                        ",\"secrets\":[{\"name\":\"a\",\"header\":\"x-auth\",\"value\":\"v1\"}]")
                .requireStatus(201);
        assertThat(SERVER.post(
                                enqueuer,
                                "/v1/runs",
                                "{\"target\":{\"endpoint\":\"plain-name\",\"headers\":{\"X-Auth\":\"mine\"}}}")
                        .requireStatus(422)
                        .text())
                .contains("x-auth");
        for (String header : List.of("Host", "X-Forwarded-Host\\r\\nHost", "webhook-signature"))
            SERVER.post(
                            enqueuer,
                            "/v1/runs",
                            "{\"target\":{\"endpoint\":\"orders\",\"headers\":{\"%s\":\"a.example\"}}}"
                                    .formatted(header))
                    .requireStatus(422);
        // A header that the endpoint sets later is not replaced by a run that was stored before.
        String run = SERVER.post(
                        enqueuer,
                        "/v1/runs",
                        "{\"target\":{\"endpoint\":\"plain-name\",\"headers\":{\"x-later\":\"mine\"}}}")
                .requireStatus(201)
                .at("/run");
        update(
                        "plain-name",
                        owner.url("/plain"),
                        ",\"secrets\":[{\"name\":\"a\",\"header\":\"x-later\",\"value\":\"v2\"}]")
                .requireStatus(200);
        SERVER.runDue();
        assertThat(owner.received("/plain"))
                .filteredOn(request -> request.header("webhook-id").equals(run))
                .extracting(request -> request.header("x-later"))
                .containsExactly("v2");
    }

    @Test
    void another_origin_requires_all_secrets_again() {
        create("moving", owner.url("/moving"), secrets()).requireStatus(201);
        String elsewhere = attacker.url("/moved");
        RestTestServer.Reply refused = update("moving", elsewhere, "").requireStatus(409);
        assertThat(refused.code()).isEqualTo("secrets-required");
        assertThat(refused.text()).contains("missing: main, token");
        assertThat(update("moving", elsewhere, ",\"secrets\":[{\"name\":\"main\"}]")
                        .requireStatus(409)
                        .text())
                .contains("missing: token");
        update("moving", elsewhere, ",\"secrets\":[]").requireStatus(409);
        assertThat(update(
                                "moving",
                                elsewhere,
                                ",\"secrets\":[{\"name\":\"main\"},{\"name\":\"token\",\"header\":\"authorization\"}]")
                        .requireStatus(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/secrets/1/value");
        assertThat(SERVER.get(key, "/v1/endpoints/moving").at("/url")).isEqualTo(owner.url("/moving"));
        // The same host on another port, or with another scheme, is another origin; another path is not.
        update("moving", owner.url("/moving").replace("http:", "https:"), "").requireStatus(409);
        update("moving", owner.url("/elsewhere"), "").requireStatus(200);

        update(
                        "moving",
                        elsewhere,
                        ",\"secrets\":[{\"name\":\"main\"},"
                                + "{\"name\":\"token\",\"header\":\"authorization\",\"value\":\"Bearer new\"}]")
                .requireStatus(200);
        SERVER.post(key, "/v1/webhooks/test", "{\"target\":{\"endpoint\":\"moving\"}}")
                .requireStatus(200);
        assertThat(attacker.received("/moved").get(0).header("authorization")).isEqualTo("Bearer new");
    }

    @Test
    void a_changed_row_makes_its_secrets_unreadable() {
        create("tampered", owner.url("/tampered"), secrets()).requireStatus(201);
        String run = enqueue("{\"endpoint\":\"tampered\"}");
        SERVER.database()
                .execute("UPDATE carillon.endpoint SET url = '%s' WHERE name = 'tampered'"
                        .formatted(attacker.url("/tampered")));
        SERVER.runDue();
        assertThat(attacker.received("/tampered")).isEmpty();
        RestTestServer.Reply attempts = SERVER.get(key, "/v1/runs/" + run + "/attempts");
        assertThat(attempts.at("/items/0/delivery/verdict")).isEqualTo("not-sendable");
        assertThat(attempts.at("/items/0/delivery/note")).contains("cannot be decrypted");

        // A signing secret cannot be turned into the value of a header, nor moved to another endpoint.
        create("other", owner.url("/other"), secrets()).requireStatus(201);
        SERVER.database()
                .execute("UPDATE carillon.endpoint_secret SET header = 'x-main'"
                        + " WHERE endpoint = 'other' AND name = 'main'");
        assertThat(sendTest("other")).isEqualTo("not-sendable");
        create("third", owner.url("/third"), secrets()).requireStatus(201);
        SERVER.database()
                .execute("UPDATE carillon.endpoint_secret t SET sealed = s.sealed FROM carillon.endpoint_secret s"
                        + " WHERE t.endpoint = 'third' AND s.endpoint = 'orders' AND t.name = s.name");
        assertThat(sendTest("third")).isEqualTo("not-sendable");
        assertThat(owner.received("/other")).isEmpty();
        assertThat(owner.received("/third")).isEmpty();
    }

    private static String sendTest(String endpoint) {
        return SERVER.post(key, "/v1/webhooks/test", "{\"target\":{\"endpoint\":\"" + endpoint + "\"}}")
                .requireStatus(200)
                .at("/verdict");
    }

    @Test
    void an_endpoint_created_again_under_the_same_name_has_no_secret_of_the_first() {
        create("again", owner.url("/again"), secrets()).requireStatus(201);
        String run = enqueue("{\"endpoint\":\"again\"}");
        SERVER.delete(key, "/v1/endpoints/again?force=true").requireStatus(204);
        create("again", attacker.url("/again"), "").requireStatus(201);
        SERVER.post(key, "/v1/queues/endpoint.again/resume", null).requireStatus(200);
        SERVER.runDue();

        assertThat(attacker.received("/again"))
                .extracting(request -> request.header("webhook-id"))
                .containsExactly(run);
        assertNothingLeaked("/again");
    }

    @Test
    void secrets_are_resealed_with_a_new_master_key_and_the_old_one_can_be_removed() {
        try (RestTestServer.FreshDatabase database = new RestTestServer.FreshDatabase()) {
            String first = Keyring.newKey("first");
            String second = Keyring.newKey("second");
            String admin;
            try (CarillonServer server = database.start(Keyring.parse(first))) {
                admin = server.bootstrapKey().orElseThrow();
                SERVER.sendTo(
                                server.port(),
                                admin,
                                "POST",
                                "/v1/endpoints",
                                "{\"name\":\"a\",\"url\":\"https://a.example\"" + secrets() + "}")
                        .requireStatus(201);
                SERVER.sendTo(server.port(), admin, "POST", "/v1/endpoints/a/rotate", "{\"secret\":\"main\"}")
                        .requireStatus(201);
            }
            refused(ServerWebhooks.on(database.pool()), "no master key");
            refused(ServerWebhooks.on(database.pool()).keys(Keyring.parse(second)), "None of the master keys");
            try (CarillonServer server = database.start(Keyring.parse(second + "\n" + first))) {
                assertThat(reEncrypted(server, admin)).isEqualTo("2");
                assertThat(reEncrypted(server, admin)).isEqualTo("0");
            }
            try (ServerWebhooks only = ServerWebhooks.on(database.pool())
                    .keys(Keyring.parse(second))
                    .build()) {
                assertThat(only.checkSecrets().endpointStore().find("default", "a"))
                        .isPresent();
            }
        }
    }

    private static void refused(ServerWebhooks.Builder builder, String why) {
        try (ServerWebhooks webhooks = builder.build()) {
            assertThatThrownBy(webhooks::checkSecrets)
                    .isInstanceOf(CarillonException.class)
                    .hasMessageContaining(why);
        }
    }

    private static String reEncrypted(CarillonServer server, String admin) {
        return SERVER.sendTo(server.port(), admin, "POST", "/v1/endpoints:re-encrypt", null)
                .requireStatus(200)
                .at("/done");
    }

    @Test
    void without_a_master_key_endpoints_work_and_secrets_are_refused() {
        try (RestTestServer.FreshDatabase database = new RestTestServer.FreshDatabase();
                CarillonServer server = database.start("127.0.0.1")) {
            String admin = server.bootstrapKey().orElseThrow();
            String endpoint = "{\"name\":\"a\",\"url\":\"https://a.example/\"%s}";
            assertThat(SERVER.sendTo(server.port(), admin, "POST", "/v1/endpoints", endpoint.formatted(secrets()))
                            .requireStatus(409)
                            .code())
                    .isEqualTo("no-master-key");
            SERVER.sendTo(server.port(), admin, "POST", "/v1/endpoints", endpoint.formatted(""))
                    .requireStatus(201);
        }
    }

    @Test
    void only_server_admins_reseal_secrets() {
        SERVER.post(key, "/v1/endpoints:re-encrypt", null).requireStatus(403);
        SERVER.post(SERVER.bootstrap(), "/v1/endpoints:re-encrypt", null).requireStatus(200);
    }
}
