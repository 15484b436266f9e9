package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.carillon.server.access.KeyText;
import io.carillon.value.CarillonException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Keys: made, shown once, used, rotated, revoked; and what each of them opens. */
class KeysTest {
    private static final Map<String, Set<String>> MAY = Map.of(
            "read", Set.of("read"),
            "enqueue", Set.of("enqueue"),
            "manage", Set.of("read", "enqueue", "manage"),
            "admin", Set.of("read", "enqueue", "manage", "admin"));

    @RegisterExtension
    static final Served SERVED = new Served();

    @Test
    void the_first_start_makes_one_key_and_later_starts_none() {
        assertThat(KeyText.parse(SERVED.bootstrap())).isPresent();
        try (CarillonServer second = SERVED.start()) {
            assertThat(second.bootstrapKey()).isEmpty();
        }
        assertThat(SERVED.one("SELECT count(*) FROM carillon.api_key WHERE bootstrap"))
                .isEqualTo("1");
    }

    @Test
    void other_addresses_stay_shut_until_somebody_made_a_key() {
        try (Served.Fresh fresh = new Served.Fresh()) {
            assertThatThrownBy(() -> fresh.start("0.0.0.0"))
                    .isInstanceOf(CarillonException.class)
                    .hasMessageContaining("nobody has made a key yet");
            try (CarillonServer local = fresh.start("127.0.0.1")) {
                SERVED.raw(
                                local.port(),
                                local.bootstrapKey().orElseThrow(),
                                "POST",
                                "/v1/keys",
                                "{\"name\":\"mine\",\"scopes\":[\"admin\"]}")
                        .is(201);
            }
            try (CarillonServer open = fresh.start("0.0.0.0")) {
                SERVED.raw(open.port(), null, "GET", "/healthz", null).is(200);
            }
        }
    }

    @Test
    void only_a_hash_is_kept_and_nothing_shows_the_secret_again() {
        Served.Reply made = SERVED.post(SERVED.bootstrap(), "/v1/keys", "{\"name\":\"ci\",\"scopes\":[\"enqueue\"]}")
                .is(201);
        KeyText key = KeyText.parse(made.at("/key")).orElseThrow();
        assertThat(
                        SERVED.one(
                                "SELECT string_agg(k::text, ' ') || string_agg(a::text, ' ') FROM carillon.api_key k, carillon.audit a"))
                .doesNotContain(key.secret());
        assertThat(SERVED.get(SERVED.bootstrap(), "/v1/keys").is(200).text())
                .contains(key.id())
                .doesNotContain(key.secret());
        assertThat(SERVED.get(SERVED.bootstrap(), "/v1/keys/" + key.id())
                        .is(200)
                        .at("/name"))
                .isEqualTo("ci");
        assertThat(key.toString()).doesNotContain(key.secret());
        // Whoever reads the hash cannot call with it.
        String hash = SERVED.one("SELECT encode(hash, 'hex') FROM carillon.api_key WHERE id = '" + key.id() + "'");
        SERVED.get("crl_" + key.id() + "_" + hash.substring(0, 32) + "_000000", "/v1/stats")
                .is(401);
    }

    @Test
    void every_scope_opens_its_routes_and_no_others() {
        for (String scope : List.of("read", "enqueue", "manage", "admin")) {
            String key = SERVED.key(scope);
            for (Contract.Operation operation : Contract.the().operations()) {
                if (operation.permission().equals("public") || operation.path().equals("/v1/stream")) continue;
                boolean may = MAY.get(scope).contains(operation.permission());
                Served.Reply reply =
                        SERVED.send(key, operation.method(), Samples.path(operation, "none"), Samples.wrong(operation));
                assertThat(reply.status() == 403 && reply.text().contains("needs the scope"))
                        .as("%s with %s: %s", operation, scope, reply.text())
                        .isEqualTo(!may);
            }
        }
    }

    @Test
    void without_a_valid_key_every_route_answers_the_same() {
        String good = SERVED.key("admin");
        String revoked = SERVED.key("admin");
        SERVED.delete(
                        SERVED.bootstrap(),
                        "/v1/keys/" + KeyText.parse(revoked).orElseThrow().id())
                .is(204);
        KeyText parts = KeyText.parse(good).orElseThrow();
        String forged = new KeyText(parts.id(), "0".repeat(32)).text();
        String expired = SERVED.post(
                        SERVED.bootstrap(),
                        "/v1/keys",
                        "{\"name\":\"old\",\"scopes\":[\"admin\"],\"expiresAt\":\"2020-01-01T00:00:00Z\"}")
                .is(201)
                .at("/key");
        String first = null;
        for (Contract.Operation operation : Contract.the().operations()) {
            if (operation.permission().equals("public")) continue;
            Served.Reply reply = SERVED.send(
                            null, operation.method(), Samples.path(operation, "none"), Samples.wrong(operation))
                    .is(401);
            String body = reply.text().replaceAll("req_[0-9a-z]+", "");
            if (first == null) first = body;
            assertThat(body).isEqualTo(first);
        }
        for (String bad :
                List.of("", "x", good + "x", good.substring(0, good.length() - 1), revoked, expired, forged)) {
            Served.Reply reply = SERVED.send(bad.isEmpty() ? null : bad, "GET", "/v1/stats", null)
                    .is(401);
            assertThat(reply.text().replaceAll("req_[0-9a-z]+", "")).isEqualTo(first);
        }
        SERVED.get(good, "/v1/stats").is(200);
    }

    @Test
    void a_revoked_key_opens_nothing_after_five_seconds_on_any_node() {
        String key = SERVED.key("read");
        try (CarillonServer other = SERVED.start()) {
            SERVED.raw(other.port(), key, "GET", "/v1/stats", null).is(200);
            SERVED.delete(
                            SERVED.bootstrap(),
                            "/v1/keys/" + KeyText.parse(key).orElseThrow().id())
                    .is(204);
            await().atMost(Duration.ofSeconds(5))
                    .pollInterval(Duration.ofMillis(100))
                    .until(() -> SERVED.raw(other.port(), key, "GET", "/v1/stats", null)
                                    .status()
                            == 401);
        }
        SERVED.post(
                        SERVED.bootstrap(),
                        "/v1/keys/" + KeyText.parse(key).orElseThrow().id() + "/rotate",
                        null)
                .is(409);
    }

    @Test
    void rotation_lets_both_keys_open_for_a_while() {
        String old = SERVED.key("read");
        String id = KeyText.parse(old).orElseThrow().id();
        String fresh = SERVED.post(SERVED.bootstrap(), "/v1/keys/" + id + "/rotate", "{\"overlap\":\"1h\"}")
                .is(201)
                .at("/key");
        SERVED.get(old, "/v1/stats").is(200);
        SERVED.get(fresh, "/v1/stats").is(200);
        assertThat(SERVED.get(SERVED.bootstrap(), "/v1/keys/" + id).json().has("expiresAt"))
                .isTrue();
        assertThat(SERVED.one("SELECT (used_at IS NOT NULL)::text FROM carillon.api_key WHERE id = '" + id + "'"))
                .isEqualTo("true");
        SERVED.post(SERVED.bootstrap(), "/v1/keys/" + id + "/rotate", "{\"overlap\":\"60d\"}")
                .is(422);
        SERVED.post(SERVED.bootstrap(), "/v1/keys/unknown/rotate", null).is(404);
        SERVED.post(SERVED.bootstrap(), "/v1/keys", "{\"name\":\"x\",\"scopes\":[\"root\"]}")
                .is(422);
        assertThat(SERVED.send(
                                SERVED.bootstrap(),
                                "POST",
                                "/v1/keys",
                                "{\"name\":\"x\",\"scopes\":[\"read\"]}",
                                "Idempotency-Key",
                                "k")
                        .is(400)
                        .code())
                .isEqualTo("invalid-header");
    }

    @Test
    void guessing_is_slowed_down() {
        try (CarillonServer other = SERVED.start()) {
            boolean slowed = false;
            for (int i = 0; i < 60 && !slowed; i++)
                slowed = SERVED.raw(other.port(), KeyText.fresh().text(), "GET", "/v1/stats", null)
                                .status()
                        == 429;
            assertThat(slowed).isTrue();
            SERVED.raw(other.port(), SERVED.bootstrap(), "GET", "/v1/stats", null)
                    .is(200);
        }
    }
}
