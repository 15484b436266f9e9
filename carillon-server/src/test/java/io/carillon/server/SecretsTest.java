package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import io.carillon.CarillonException;
import io.carillon.server.hooks.ServerWebhooks;
import io.carillon.spi.Keyring;
import java.net.http.HttpHeaders;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The secrets of projects: shown once, encrypted in the database, used by deliveries, rotated with an overlap, and
 * encrypted again when the master key changes.
 */
class SecretsTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    private static WebhookReceiver webhookReceiver;
    private static String key;

    @BeforeAll
    static void listen() throws Exception {
        webhookReceiver = new WebhookReceiver();
        key = SERVER.createProject("sealed");
    }

    @AfterAll
    static void stop() {
        webhookReceiver.close();
    }

    private static String createSecret(String name, String more) {
        return SERVER.post(key, "/v1/secrets", "{\"name\":\"" + name + "\"" + more + "}")
                .requireStatus(201)
                .at("/value");
    }

    private static WebhookReceiver.ReceivedRequest deliver(String path, String more) {
        SERVER.post(
                        key,
                        "/v1/webhooks/test",
                        "{\"target\":{\"url\":\"" + webhookReceiver.url(path) + "\"," + more + "}}")
                .requireStatus(200);
        List<WebhookReceiver.ReceivedRequest> got = webhookReceiver.received(path);
        return got.get(got.size() - 1);
    }

    private static void verify(String secret, WebhookReceiver.ReceivedRequest receivedRequest) throws Exception {
        Map<String, List<String>> headers = receivedRequest.headers().entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, one -> List.of(one.getValue())));
        new Webhook(secret).verify(receivedRequest.body(), HttpHeaders.of(headers, (name, value) -> true));
    }

    @Test
    void a_secret_is_shown_once_and_stored_sealed() {
        String secret = createSecret("orders", "");

        assertThat(secret).startsWith("whsec_");
        RestTestServer.Reply read = SERVER.get(key, "/v1/secrets/orders").requireStatus(200);
        assertThat(read.at("/value")).isEqualTo("set");
        assertThat(read.at("/kind")).isEqualTo("signing");
        String all = read.text()
                + SERVER.get(key, "/v1/secrets").requireStatus(200).text()
                + SERVER.get(key, "/v1/audit").requireStatus(200).text()
                + SERVER.query("SELECT string_agg(t::text, '') FROM carillon.webhook_secret t")
                        .text();
        assertThat(all).contains("orders").doesNotContain(secret, secret.substring(6));
        assertThat(SERVER.post(key, "/v1/secrets", "{\"name\":\"orders\"}")
                        .requireStatus(409)
                        .code())
                .isEqualTo("secret-exists");
        SERVER.send(key, "POST", "/v1/secrets", "{\"name\":\"x\"}", "Idempotency-Key", "k")
                .requireStatus(400);
    }

    @Test
    void deliveries_are_signed_and_both_secrets_verify_while_one_is_rotated() {
        String old = createSecret("turning", "");
        WebhookReceiver.ReceivedRequest before = deliver("/signed", "\"secret\":\"turning\"");
        assertThatCode(() -> verify(old, before)).doesNotThrowAnyException();

        RestTestServer.Reply rotated = SERVER.post(key, "/v1/secrets/turning/rotate", "{\"overlap\":\"1h\"}")
                .requireStatus(201);
        String fresh = rotated.at("/value");
        assertThat(fresh).startsWith("whsec_").isNotEqualTo(old);
        assertThat(rotated.at("/previousUntil")).isNotEmpty();
        WebhookReceiver.ReceivedRequest during = deliver("/signed", "\"secret\":\"turning\"");
        assertThatCode(() -> verify(old, during)).doesNotThrowAnyException();
        assertThatCode(() -> verify(fresh, during)).doesNotThrowAnyException();

        SERVER.post(key, "/v1/secrets/turning/rotate", "{\"overlap\":\"0s\"}").requireStatus(201);
        WebhookReceiver.ReceivedRequest after = deliver("/signed", "\"secret\":\"turning\"");
        assertThatThrownBy(() -> verify(old, after)).isInstanceOf(WebhookVerificationException.class);
        assertThatThrownBy(() -> verify(fresh, after)).isInstanceOf(WebhookVerificationException.class);
    }

    @Test
    void a_value_is_sent_as_a_header_and_shown_nowhere() {
        assertThat(createSecret("token", ",\"value\":\"Bearer t0ps3cret\"")).isEqualTo("set");
        WebhookReceiver.ReceivedRequest receivedRequest =
                deliver("/authorized", "\"secretHeaders\":{\"authorization\":\"token\"}");
        assertThat(receivedRequest.header("authorization")).isEqualTo("Bearer t0ps3cret");
        String run = SERVER.post(
                        key,
                        "/v1/runs",
                        "{\"target\":{\"url\":\"" + webhookReceiver.url("/run")
                                + "\",\"secretHeaders\":{\"authorization\":\"token\"}}}")
                .requireStatus(201)
                .at("/run");
        SERVER.runDue();
        assertThat(webhookReceiver.received("/run").get(0).header("authorization"))
                .isEqualTo("Bearer t0ps3cret");
        assertThat(SERVER.get(key, "/v1/runs/" + run).requireStatus(200).text()).doesNotContain("t0ps3cret");
        assertThat(SERVER.query("SELECT string_agg(convert_from(payload, 'UTF8'), '') FROM carillon.run_history")
                        .text())
                .contains("/run")
                .doesNotContain("t0ps3cret");
        // A header value cannot be used to sign.
        SERVER.post(
                        key,
                        "/v1/webhooks/test",
                        "{\"target\":{\"url\":\"" + webhookReceiver.url("/x") + "\",\"secret\":\"token\"}}")
                .requireStatus(422);
        assertThat(SERVER.post(key, "/v1/secrets/token/rotate", null)
                        .requireStatus(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/value");
        SERVER.post(key, "/v1/secrets/token/rotate", "{\"value\":\"Bearer 2\"}").requireStatus(201);
        assertThat(deliver("/authorized", "\"secretHeaders\":{\"authorization\":\"token\"}")
                        .header("authorization"))
                .isEqualTo("Bearer 2");
    }

    @Test
    void values_that_could_split_a_request_or_sign_nothing_are_refused() {
        for (String value : List.of("a\\r\\nb", "", " a", "whsec_short", "\u00fc"))
            assertThat(SERVER.post(key, "/v1/secrets", "{\"name\":\"odd\",\"value\":\"" + value + "\"}")
                            .requireStatus(422)
                            .at("/errors/0/pointer"))
                    .isEqualTo("/value");
        SERVER.get(key, "/v1/secrets/odd").requireStatus(404);
    }

    @Test
    void a_deleted_secret_fails_deliveries_and_frees_its_name() {
        createSecret("leaving", "");
        String run = SERVER.post(
                        key,
                        "/v1/runs",
                        "{\"target\":{\"url\":\"" + webhookReceiver.url("/left") + "\",\"secret\":\"leaving\"}}")
                .requireStatus(201)
                .at("/run");
        SERVER.delete(key, "/v1/secrets/leaving").requireStatus(204);
        SERVER.delete(key, "/v1/secrets/leaving").requireStatus(404);
        SERVER.runDue();

        assertThat(webhookReceiver.received("/left")).isEmpty();
        assertThat(SERVER.get(key, "/v1/runs/" + run + "/attempts").at("/items/0/delivery/verdict"))
                .isEqualTo("not-sendable");
        createSecret("leaving", "");
    }

    @Test
    void secrets_are_resealed_with_a_new_master_key_and_the_old_one_can_be_removed() {
        try (RestTestServer.FreshDatabase database = new RestTestServer.FreshDatabase()) {
            String first = Keyring.newKey("first");
            String second = Keyring.newKey("second");
            String admin;
            try (CarillonServer server = database.start(Keyring.parse(first))) {
                admin = server.bootstrapKey().orElseThrow();
                SERVER.sendTo(server.port(), admin, "POST", "/v1/secrets", "{\"name\":\"a\"}")
                        .requireStatus(201);
                SERVER.sendTo(server.port(), admin, "POST", "/v1/secrets", "{\"name\":\"b\"}")
                        .requireStatus(201);
                SERVER.sendTo(server.port(), admin, "POST", "/v1/secrets/b/rotate", null)
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
                assertThat(only.checkSecrets().secretStore().find("default", "a"))
                        .hasSize(1);
                assertThat(only.secretStore().find("default", "b")).hasSize(2);
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
        return SERVER.sendTo(server.port(), admin, "POST", "/v1/secrets:re-encrypt", null)
                .requireStatus(200)
                .at("/done");
    }

    @Test
    void without_a_master_key_webhooks_work_and_secrets_are_refused() {
        try (RestTestServer.FreshDatabase database = new RestTestServer.FreshDatabase();
                CarillonServer server = database.start("127.0.0.1")) {
            String admin = server.bootstrapKey().orElseThrow();
            assertThat(SERVER.sendTo(server.port(), admin, "POST", "/v1/secrets", "{\"name\":\"a\"}")
                            .requireStatus(409)
                            .code())
                    .isEqualTo("no-master-key");
            SERVER.sendTo(
                            server.port(),
                            admin,
                            "PUT",
                            "/v1/schedules/plain",
                            "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"url\":\"https://a.example/\"}}")
                    .requireStatus(201);
        }
    }

    @Test
    void only_admins_create_them_and_only_server_admins_reseal_them() {
        String manager = SERVER.createKeyAs(key, "manage");
        SERVER.post(manager, "/v1/secrets", "{\"name\":\"a\"}").requireStatus(403);
        SERVER.get(manager, "/v1/secrets").requireStatus(200);
        SERVER.post(key, "/v1/secrets:re-encrypt", null).requireStatus(403);
        SERVER.post(SERVER.bootstrap(), "/v1/secrets:re-encrypt", null).requireStatus(200);
    }
}
