package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import io.carillon.seal.Keyring;
import io.carillon.server.hooks.ServerWebhooks;
import io.carillon.value.CarillonException;
import java.net.http.HttpHeaders;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The secrets of projects: shown once, sealed in the database, used by deliveries, rotated with an overlap, and sealed anew when the master key changes. */
class SecretsTest {
    @RegisterExtension
    static final Served SERVED = new Served();

    private static Receiver receiver;
    private static String key;

    @BeforeAll
    static void listen() throws Exception {
        receiver = new Receiver();
        key = SERVED.project("sealed");
    }

    @AfterAll
    static void stop() {
        receiver.close();
    }

    private static String made(String name, String more) {
        return SERVED.post(key, "/v1/secrets", "{\"name\":\"" + name + "\"" + more + "}")
                .is(201)
                .at("/value");
    }

    private static Receiver.Got sent(String path, String more) {
        SERVED.post(key, "/v1/webhooks/test", "{\"target\":{\"url\":\"" + receiver.url(path) + "\"," + more + "}}")
                .is(200);
        List<Receiver.Got> got = receiver.got(path);
        return got.get(got.size() - 1);
    }

    private static void verify(String secret, Receiver.Got got) throws Exception {
        Map<String, List<String>> headers = got.headers().entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, one -> List.of(one.getValue())));
        new Webhook(secret).verify(got.body(), HttpHeaders.of(headers, (name, value) -> true));
    }

    @Test
    void one_is_shown_once_and_kept_sealed() {
        String secret = made("orders", "");

        assertThat(secret).startsWith("whsec_");
        Served.Reply read = SERVED.get(key, "/v1/secrets/orders").is(200);
        assertThat(read.at("/value")).isEqualTo("set");
        assertThat(read.at("/kind")).isEqualTo("signing");
        String all = read.text()
                + SERVED.get(key, "/v1/secrets").is(200).text()
                + SERVED.get(key, "/v1/audit").is(200).text()
                + SERVED.one("SELECT string_agg(t::text, '') FROM carillon.webhook_secret t");
        assertThat(all).contains("orders").doesNotContain(secret, secret.substring(6));
        assertThat(SERVED.post(key, "/v1/secrets", "{\"name\":\"orders\"}")
                        .is(409)
                        .code())
                .isEqualTo("secret-exists");
        SERVED.send(key, "POST", "/v1/secrets", "{\"name\":\"x\"}", "Idempotency-Key", "k")
                .is(400);
    }

    @Test
    void deliveries_are_signed_and_both_secrets_verify_while_one_is_rotated() {
        String old = made("turning", "");
        Receiver.Got before = sent("/signed", "\"secret\":\"turning\"");
        assertThatCode(() -> verify(old, before)).doesNotThrowAnyException();

        Served.Reply rotated = SERVED.post(key, "/v1/secrets/turning/rotate", "{\"overlap\":\"1h\"}")
                .is(201);
        String fresh = rotated.at("/value");
        assertThat(fresh).startsWith("whsec_").isNotEqualTo(old);
        assertThat(rotated.at("/previousUntil")).isNotEmpty();
        Receiver.Got during = sent("/signed", "\"secret\":\"turning\"");
        assertThatCode(() -> verify(old, during)).doesNotThrowAnyException();
        assertThatCode(() -> verify(fresh, during)).doesNotThrowAnyException();

        SERVED.post(key, "/v1/secrets/turning/rotate", "{\"overlap\":\"0s\"}").is(201);
        Receiver.Got after = sent("/signed", "\"secret\":\"turning\"");
        assertThatThrownBy(() -> verify(old, after)).isInstanceOf(WebhookVerificationException.class);
        assertThatThrownBy(() -> verify(fresh, after)).isInstanceOf(WebhookVerificationException.class);
    }

    @Test
    void a_value_is_sent_as_a_header_and_shown_nowhere() {
        assertThat(made("token", ",\"value\":\"Bearer t0ps3cret\"")).isEqualTo("set");
        Receiver.Got got = sent("/authorized", "\"secretHeaders\":{\"authorization\":\"token\"}");
        assertThat(got.header("authorization")).isEqualTo("Bearer t0ps3cret");
        String run = SERVED.post(
                        key,
                        "/v1/runs",
                        "{\"target\":{\"url\":\"" + receiver.url("/run")
                                + "\",\"secretHeaders\":{\"authorization\":\"token\"}}}")
                .is(201)
                .at("/run");
        SERVED.tick();
        assertThat(receiver.got("/run").get(0).header("authorization")).isEqualTo("Bearer t0ps3cret");
        assertThat(SERVED.get(key, "/v1/runs/" + run).is(200).text()).doesNotContain("t0ps3cret");
        assertThat(SERVED.one("SELECT string_agg(convert_from(payload, 'UTF8'), '') FROM carillon.run_history"))
                .contains("/run")
                .doesNotContain("t0ps3cret");
        // It is no secret to sign with.
        SERVED.post(
                        key,
                        "/v1/webhooks/test",
                        "{\"target\":{\"url\":\"" + receiver.url("/x") + "\",\"secret\":\"token\"}}")
                .is(422);
        assertThat(SERVED.post(key, "/v1/secrets/token/rotate", null).is(422).at("/errors/0/pointer"))
                .isEqualTo("/value");
        SERVED.post(key, "/v1/secrets/token/rotate", "{\"value\":\"Bearer 2\"}").is(201);
        assertThat(sent("/authorized", "\"secretHeaders\":{\"authorization\":\"token\"}")
                        .header("authorization"))
                .isEqualTo("Bearer 2");
    }

    @Test
    void values_that_could_split_a_request_or_sign_nothing_are_refused() {
        for (String value : List.of("a\\r\\nb", "", " a", "whsec_short", "\u00fc"))
            assertThat(SERVED.post(key, "/v1/secrets", "{\"name\":\"odd\",\"value\":\"" + value + "\"}")
                            .is(422)
                            .at("/errors/0/pointer"))
                    .isEqualTo("/value");
        SERVED.get(key, "/v1/secrets/odd").is(404);
    }

    @Test
    void a_deleted_one_fails_deliveries_and_is_free_again() {
        made("leaving", "");
        String run = SERVED.post(
                        key,
                        "/v1/runs",
                        "{\"target\":{\"url\":\"" + receiver.url("/left") + "\",\"secret\":\"leaving\"}}")
                .is(201)
                .at("/run");
        SERVED.delete(key, "/v1/secrets/leaving").is(204);
        SERVED.delete(key, "/v1/secrets/leaving").is(404);
        SERVED.tick();

        assertThat(receiver.got("/left")).isEmpty();
        assertThat(SERVED.get(key, "/v1/runs/" + run + "/attempts").at("/items/0/delivery/verdict"))
                .isEqualTo("not-sendable");
        made("leaving", "");
    }

    @Test
    void another_master_key_takes_over_and_the_old_one_can_go() {
        try (Served.Fresh house = new Served.Fresh()) {
            String first = Keyring.newKey("first");
            String second = Keyring.newKey("second");
            String admin;
            try (CarillonServer server = house.start(Keyring.parse(first))) {
                admin = server.bootstrapKey().orElseThrow();
                SERVED.raw(server.port(), admin, "POST", "/v1/secrets", "{\"name\":\"a\"}")
                        .is(201);
                SERVED.raw(server.port(), admin, "POST", "/v1/secrets", "{\"name\":\"b\"}")
                        .is(201);
                SERVED.raw(server.port(), admin, "POST", "/v1/secrets/b/rotate", null)
                        .is(201);
            }
            refused(ServerWebhooks.on(house.pool()), "no master key");
            refused(ServerWebhooks.on(house.pool()).keys(Keyring.parse(second)), "None of the master keys");
            try (CarillonServer server = house.start(Keyring.parse(second + "\n" + first))) {
                assertThat(reEncrypted(server, admin)).isEqualTo("2");
                assertThat(reEncrypted(server, admin)).isEqualTo("0");
            }
            try (ServerWebhooks only =
                    ServerWebhooks.on(house.pool()).keys(Keyring.parse(second)).build()) {
                assertThat(only.check().vault().find("default", "a")).hasSize(1);
                assertThat(only.vault().find("default", "b")).hasSize(2);
            }
        }
    }

    private static void refused(ServerWebhooks.Builder builder, String why) {
        try (ServerWebhooks webhooks = builder.build()) {
            assertThatThrownBy(webhooks::check)
                    .isInstanceOf(CarillonException.class)
                    .hasMessageContaining(why);
        }
    }

    private static String reEncrypted(CarillonServer server, String admin) {
        return SERVED.raw(server.port(), admin, "POST", "/v1/secrets:re-encrypt", null)
                .is(200)
                .at("/done");
    }

    @Test
    void without_a_master_key_there_are_no_secrets_but_webhooks() {
        try (Served.Fresh house = new Served.Fresh();
                CarillonServer server = house.start("127.0.0.1")) {
            String admin = server.bootstrapKey().orElseThrow();
            assertThat(SERVED.raw(server.port(), admin, "POST", "/v1/secrets", "{\"name\":\"a\"}")
                            .is(409)
                            .code())
                    .isEqualTo("no-master-key");
            SERVED.raw(
                            server.port(),
                            admin,
                            "PUT",
                            "/v1/schedules/plain",
                            "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"url\":\"https://a.example/\"}}")
                    .is(201);
        }
    }

    @Test
    void only_admins_make_them_and_only_keepers_of_the_house_seal_them_anew() {
        String manager = SERVED.keyBy(key, "manage");
        SERVED.post(manager, "/v1/secrets", "{\"name\":\"a\"}").is(403);
        SERVED.get(manager, "/v1/secrets").is(200);
        SERVED.post(key, "/v1/secrets:re-encrypt", null).is(403);
        SERVED.post(SERVED.bootstrap(), "/v1/secrets:re-encrypt", null).is(200);
    }
}
