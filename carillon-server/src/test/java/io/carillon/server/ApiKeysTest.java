package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.carillon.CarillonException;
import io.carillon.server.access.PlaintextApiKey;
import io.carillon.server.openapi.OpenApiDescription;
import io.carillon.server.openapi.SampleRequests;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** API keys: created, shown once, used, rotated and revoked; and the operations that each scope allows. */
class ApiKeysTest {
    private static final Map<String, Set<String>> PERMISSIONS_BY_SCOPE = Map.of(
            "read", Set.of("any", "read"),
            "enqueue", Set.of("any", "enqueue"),
            "manage", Set.of("any", "read", "enqueue", "manage"),
            "admin", Set.of("any", "read", "enqueue", "manage", "admin"));

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    @Test
    void the_first_start_creates_one_key_and_later_starts_none() {
        assertThat(PlaintextApiKey.parse(SERVER.bootstrap())).isPresent();
        try (CarillonServer second = SERVER.start()) {
            assertThat(second.bootstrapKey()).isEmpty();
        }
        assertThat(SERVER.query("SELECT count(*) FROM carillon.api_key WHERE bootstrap")
                        .text())
                .isEqualTo("1");
    }

    @Test
    void public_addresses_are_refused_until_a_key_was_created() {
        try (RestTestServer.FreshDatabase freshDatabase = new RestTestServer.FreshDatabase()) {
            assertThatThrownBy(() -> freshDatabase.start("0.0.0.0"))
                    .isInstanceOf(CarillonException.class)
                    .hasMessageContaining("no API key has been created yet");
            try (CarillonServer local = freshDatabase.start("127.0.0.1")) {
                SERVER.sendTo(
                                local.port(),
                                local.bootstrapKey().orElseThrow(),
                                "POST",
                                "/v1/keys",
                                "{\"name\":\"mine\",\"scopes\":[\"admin\"]}")
                        .requireStatus(201);
            }
            try (CarillonServer open = freshDatabase.start("0.0.0.0")) {
                SERVER.sendTo(open.port(), null, "GET", "/healthz", null).requireStatus(200);
            }
        }
    }

    @Test
    void only_a_hash_is_kept_and_nothing_shows_the_secret_again() {
        RestTestServer.Reply made = SERVER.post(
                        SERVER.bootstrap(), "/v1/keys", "{\"name\":\"ci\",\"scopes\":[\"enqueue\"]}")
                .requireStatus(201);
        PlaintextApiKey key = PlaintextApiKey.parse(made.at("/key")).orElseThrow();
        assertThat(SERVER.query("SELECT string_agg(k::text, ' ') || string_agg(a::text, ' ')"
                                + " FROM carillon.api_key k, carillon.audit a")
                        .text())
                .doesNotContain(key.secret());
        assertThat(SERVER.get(SERVER.bootstrap(), "/v1/keys").requireStatus(200).text())
                .contains(key.id())
                .doesNotContain(key.secret());
        assertThat(SERVER.get(SERVER.bootstrap(), "/v1/keys/" + key.id())
                        .requireStatus(200)
                        .at("/name"))
                .isEqualTo("ci");
        assertThat(key.toString()).doesNotContain(key.secret());
        // The stored hash is not accepted as a key.
        String hash = SERVER.query("SELECT encode(hash, 'hex') FROM carillon.api_key WHERE id = '" + key.id() + "'")
                .text();
        SERVER.get("crl_" + key.id() + "_" + hash.substring(0, 32) + "_000000", "/v1/stats")
                .requireStatus(401);
    }

    @Test
    void every_scope_allows_its_routes_and_no_others() {
        for (String scope : List.of("read", "enqueue", "manage", "admin")) {
            String key = SERVER.createKey(scope);
            for (OpenApiDescription.Operation operation :
                    OpenApiDescription.instance().operations()) {
                if (operation.permission().equals("public") || operation.isStream()) continue;
                boolean may = PERMISSIONS_BY_SCOPE.get(scope).contains(operation.permission());
                RestTestServer.Reply reply = SERVER.send(
                        key,
                        operation.method(),
                        SampleRequests.path(operation, "none"),
                        SampleRequests.invalidBody(operation));
                assertThat(reply.status() == 403 && reply.text().matches("(?s).*needs (the scope|one of the scopes).*"))
                        .as("%s with %s: %s", operation, scope, reply.text())
                        .isEqualTo(!may);
            }
        }
    }

    @Test
    void without_a_valid_key_every_route_answers_the_same() {
        String good = SERVER.createKey("admin");
        String revoked = SERVER.createKey("admin");
        SERVER.delete(
                        SERVER.bootstrap(),
                        "/v1/keys/"
                                + PlaintextApiKey.parse(revoked).orElseThrow().id())
                .requireStatus(204);
        PlaintextApiKey parts = PlaintextApiKey.parse(good).orElseThrow();
        String forged = new PlaintextApiKey(parts.id(), "0".repeat(32)).text();
        String expired = SERVER.post(
                        SERVER.bootstrap(),
                        "/v1/keys",
                        "{\"name\":\"old\",\"scopes\":[\"admin\"],\"expiresAt\":\"2020-01-01T00:00:00Z\"}")
                .requireStatus(201)
                .at("/key");
        String first = null;
        for (OpenApiDescription.Operation operation :
                OpenApiDescription.instance().operations()) {
            if (operation.permission().equals("public")) continue;
            RestTestServer.Reply reply = SERVER.send(
                            null,
                            operation.method(),
                            SampleRequests.path(operation, "none"),
                            SampleRequests.invalidBody(operation))
                    .requireStatus(401);
            String body = reply.text().replaceAll("req_[0-9a-z]+", "");
            if (first == null) first = body;
            assertThat(body).isEqualTo(first);
        }
        for (String bad :
                List.of("", "x", good + "x", good.substring(0, good.length() - 1), revoked, expired, forged)) {
            RestTestServer.Reply reply = SERVER.send(bad.isEmpty() ? null : bad, "GET", "/v1/stats", null)
                    .requireStatus(401);
            assertThat(reply.text().replaceAll("req_[0-9a-z]+", "")).isEqualTo(first);
        }
        SERVER.get(good, "/v1/stats").requireStatus(200);
    }

    @Test
    void a_revoked_key_is_refused_after_five_seconds_on_any_node() {
        String key = SERVER.createKey("read");
        try (CarillonServer other = SERVER.start()) {
            SERVER.sendTo(other.port(), key, "GET", "/v1/stats", null).requireStatus(200);
            SERVER.delete(
                            SERVER.bootstrap(),
                            "/v1/keys/"
                                    + PlaintextApiKey.parse(key).orElseThrow().id())
                    .requireStatus(204);
            await().atMost(Duration.ofSeconds(5))
                    .pollInterval(Duration.ofMillis(100))
                    .until(() -> SERVER.sendTo(other.port(), key, "GET", "/v1/stats", null)
                                    .status()
                            == 401);
        }
        SERVER.post(
                        SERVER.bootstrap(),
                        "/v1/keys/" + PlaintextApiKey.parse(key).orElseThrow().id() + "/rotate",
                        null)
                .requireStatus(409);
    }

    @Test
    void rotation_accepts_both_keys_during_the_overlap() {
        String old = SERVER.createKey("read");
        String id = PlaintextApiKey.parse(old).orElseThrow().id();
        String fresh = SERVER.post(SERVER.bootstrap(), "/v1/keys/" + id + "/rotate", "{\"overlap\":\"1h\"}")
                .requireStatus(201)
                .at("/key");
        SERVER.get(old, "/v1/stats").requireStatus(200);
        SERVER.get(fresh, "/v1/stats").requireStatus(200);
        assertThat(SERVER.get(SERVER.bootstrap(), "/v1/keys/" + id).json().has("expiresAt"))
                .isTrue();
        assertThat(SERVER.query("SELECT (used_at IS NOT NULL)::text FROM carillon.api_key WHERE id = '" + id + "'")
                        .text())
                .isEqualTo("true");
        SERVER.post(SERVER.bootstrap(), "/v1/keys/" + id + "/rotate", "{\"overlap\":\"60d\"}")
                .requireStatus(422);
        SERVER.post(SERVER.bootstrap(), "/v1/keys/unknown/rotate", null).requireStatus(404);
        SERVER.post(SERVER.bootstrap(), "/v1/keys", "{\"name\":\"x\",\"scopes\":[\"root\"]}")
                .requireStatus(422);
        assertThat(SERVER.send(
                                SERVER.bootstrap(),
                                "POST",
                                "/v1/keys",
                                "{\"name\":\"x\",\"scopes\":[\"read\"]}",
                                "Idempotency-Key",
                                "k")
                        .requireStatus(400)
                        .code())
                .isEqualTo("invalid-header");
    }
}
