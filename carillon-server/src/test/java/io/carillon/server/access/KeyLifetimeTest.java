package io.carillon.server.access;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.CarillonServer;
import io.carillon.server.RestTestServer;
import io.carillon.server.http.Caller;
import io.carillon.server.http.KeyLimits;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** No key or token creates a key that outlives it, and the server limits the lifetime of all keys. */
class KeyLifetimeTest {
    private static final String TOKEN_END = "2900-01-01T00:00:00Z";

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer(
            carillon -> carillon,
            server -> server.tokenVerifier(bearer -> bearer.equals("token")
                    ? Optional.of(new Caller(
                            "default", "subject ann", Set.of("admin"), KeyLimits.until(Instant.parse(TOKEN_END))))
                    : Optional.empty()));

    @Test
    void rotation_keeps_the_expiry_even_if_it_is_repeated() {
        String key = create(SERVER.bootstrap(), "read", "2999-01-01T00:00:00Z").at("/key");

        RestTestServer.Reply first = rotate(SERVER.bootstrap(), key).requireStatus(201);
        RestTestServer.Reply second = rotate(SERVER.bootstrap(), key).requireStatus(201);

        assertThat(first.at("/expiresAt")).isEqualTo("2999-01-01T00:00:00Z");
        assertThat(second.at("/expiresAt")).isEqualTo("2999-01-01T00:00:00Z");
        assertThat(Instant.parse(
                        SERVER.get(SERVER.bootstrap(), "/v1/keys/" + id(key)).at("/expiresAt")))
                .as("the old key ends with the overlap")
                .isBefore(Instant.parse("2998-01-01T00:00:00Z"));
    }

    @Test
    void a_key_whose_overlap_has_ended_cannot_be_rotated() {
        String key = SERVER.createKey("read");
        SERVER.post(SERVER.bootstrap(), "/v1/keys/" + id(key) + "/rotate", "{\"overlap\":\"0s\"}")
                .requireStatus(201);

        rotate(SERVER.bootstrap(), key).requireStatus(409);
    }

    @Test
    void an_expired_key_cannot_be_rotated() {
        String key = create(SERVER.bootstrap(), "read", "2020-01-01T00:00:00Z").at("/key");

        assertThat(rotate(SERVER.bootstrap(), key).requireStatus(409).code()).isEqualTo("key-revoked");
    }

    @Test
    void a_key_that_expires_creates_no_key_that_expires_later() {
        String brief = create(SERVER.bootstrap(), "admin", "2998-01-01T00:00:00Z")
                .requireStatus(201)
                .at("/key");
        String lasting = SERVER.createKey("read");

        assertThat(create(brief, "read", "2999-01-01T00:00:00Z")
                        .requireStatus(422)
                        .at("/errors/0/detail"))
                .contains("2998-01-01T00:00:00Z");
        create(brief, "read", "2997-01-01T00:00:00Z").requireStatus(201);
        assertThat(SERVER.post(brief, "/v1/keys", "{\"name\":\"k\",\"scopes\":[\"read\"]}")
                        .requireStatus(201)
                        .at("/expiresAt"))
                .isEqualTo("2998-01-01T00:00:00Z");
        rotate(brief, lasting).requireStatus(403);
        SERVER.get(lasting, "/v1/stats").requireStatus(200);
        assertThat(rotate(brief, brief).requireStatus(201).at("/expiresAt")).isEqualTo("2998-01-01T00:00:00Z");
    }

    @Test
    void a_rotated_key_does_not_replace_itself_again_and_creates_no_key_that_outlives_it() {
        String leaked = SERVER.createKey("admin");
        String other = SERVER.createKey("read");
        SERVER.get(leaked, "/v1/stats").requireStatus(200);
        // The node still has the key in its cache, without an end.
        rotate(SERVER.bootstrap(), leaked).requireStatus(201);
        Instant end = Instant.parse(
                SERVER.get(SERVER.bootstrap(), "/v1/keys/" + id(leaked)).at("/expiresAt"));

        RestTestServer.Reply refused = rotate(leaked, leaked).requireStatus(409);
        assertThat(refused.code()).isEqualTo("key-rotated");
        assertThat(refused.at("/detail")).contains("already rotated");
        rotate(leaked, other).requireStatus(403);
        create(leaked, "admin", "2999-01-01T00:00:00Z").requireStatus(422);
        assertThat(Instant.parse(SERVER.post(leaked, "/v1/keys", "{\"name\":\"k\",\"scopes\":[\"admin\"]}")
                        .requireStatus(201)
                        .at("/expiresAt")))
                .isEqualTo(end);
        String first = SERVER.post(leaked, "/v1/projects", "{\"name\":\"leaked\"}")
                .requireStatus(201)
                .at("/key");
        assertThat(Instant.parse(SERVER.get(first, "/v1/keys/" + id(first)).at("/expiresAt")))
                .isEqualTo(end);
    }

    @Test
    void a_key_that_was_rotated_by_itself_is_not_rotated_by_itself_again() {
        String key = SERVER.createKey("admin");
        rotate(key, key).requireStatus(201);
        assertThat(rotate(key, key).requireStatus(409).code()).isEqualTo("key-rotated");
        rotate(SERVER.bootstrap(), key).requireStatus(201);
    }

    @Test
    void a_revoked_key_creates_no_key_while_a_node_still_knows_it() {
        String key = SERVER.createKey("admin");
        SERVER.get(key, "/v1/stats").requireStatus(200);
        SERVER.delete(SERVER.bootstrap(), "/v1/keys/" + id(key)).requireStatus(204);

        create(key, "read", "2999-01-01T00:00:00Z").requireStatus(401);
        rotate(key, SERVER.createKey("read")).requireStatus(401);
        SERVER.post(key, "/v1/projects", "{\"name\":\"too-late\"}").requireStatus(401);
    }

    @Test
    void the_first_key_of_a_project_expires_with_the_key_that_created_the_project() {
        String brief = create(SERVER.bootstrap(), "admin", "2998-01-01T00:00:00Z")
                .requireStatus(201)
                .at("/key");
        String first = SERVER.post(brief, "/v1/projects", "{\"name\":\"brief\"}")
                .requireStatus(201)
                .at("/key");

        assertThat(SERVER.get(first, "/v1/keys/" + id(first)).requireStatus(200).at("/expiresAt"))
                .isEqualTo("2998-01-01T00:00:00Z");
    }

    @Test
    void a_token_creates_no_key_that_outlives_it() {
        create("token", "read", "2999-01-01T00:00:00Z").requireStatus(422);
        assertThat(SERVER.post("token", "/v1/keys", "{\"name\":\"k\",\"scopes\":[\"read\"]}")
                        .requireStatus(201)
                        .at("/expiresAt"))
                .isEqualTo(TOKEN_END);
        rotate("token", SERVER.createKey("read")).requireStatus(403);
    }

    @Test
    void the_server_limits_the_lifetime_of_new_keys() {
        try (CarillonServer strict = SERVER.start(server -> server.maxKeyLifetime(Duration.ofDays(30)))) {
            RestTestServer.Reply plain = SERVER.sendTo(
                            strict.port(),
                            SERVER.bootstrap(),
                            "POST",
                            "/v1/keys",
                            "{\"name\":\"k\",\"scopes\":[\"read\"]}")
                    .requireStatus(201);
            Duration lifetime =
                    Duration.between(Instant.parse(plain.at("/createdAt")), Instant.parse(plain.at("/expiresAt")));
            assertThat(lifetime)
                    .isBetween(
                            Duration.ofDays(30).minusMinutes(1),
                            Duration.ofDays(30).plusMinutes(1));
            assertThat(SERVER.sendTo(
                                    strict.port(),
                                    SERVER.bootstrap(),
                                    "POST",
                                    "/v1/keys",
                                    "{\"name\":\"k\",\"scopes\":[\"read\"],\"expiresAt\":\"2999-01-01T00:00:00Z\"}")
                            .requireStatus(422)
                            .text())
                    .contains("limits the lifetime");
            assertThat(SERVER.sendTo(
                                    strict.port(),
                                    SERVER.bootstrap(),
                                    "POST",
                                    "/v1/keys/" + id(SERVER.createKey("read")) + "/rotate",
                                    null)
                            .requireStatus(201)
                            .json()
                            .has("expiresAt"))
                    .isTrue();
        }
    }

    private static RestTestServer.Reply create(String caller, String scope, String expiresAt) {
        return SERVER.post(
                caller,
                "/v1/keys",
                "{\"name\":\"k\",\"scopes\":[\"%s\"],\"expiresAt\":\"%s\"}".formatted(scope, expiresAt));
    }

    private static RestTestServer.Reply rotate(String caller, String key) {
        return SERVER.post(caller, "/v1/keys/" + id(key) + "/rotate", "{\"overlap\":\"1h\"}");
    }

    private static String id(String key) {
        return PlaintextApiKey.parse(key).orElseThrow().id();
    }
}
