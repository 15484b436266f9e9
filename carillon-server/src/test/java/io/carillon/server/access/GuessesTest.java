package io.carillon.server.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.server.CarillonServer;
import io.carillon.server.RestTestServer;
import io.carillon.server.http.Caller;
import io.carillon.server.http.KeyLimits;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Guessing is slowed down, costs the database nothing, and makes no caller with a valid key or token wait. */
class GuessesTest {
    /** A key of another installation: its form and checksum are right. */
    private static final KeyIssuer OTHER_ISSUER = new KeyIssuer(new byte[32]);

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer(
            carillon -> carillon,
            server -> server.tokenVerifier(bearer -> bearer.startsWith("token.")
                    ? Optional.of(new Caller(
                            bearer.substring("token.".length()), "subject ann", Set.of("read"), KeyLimits.until(null)))
                    : Optional.empty()));

    @Test
    void a_valid_key_or_token_that_is_new_to_the_node_works_while_its_address_guesses() {
        String key = SERVER.createKey("read");
        try (CarillonServer other = SERVER.start()) {
            guessUntilSlowedDown(other, OTHER_ISSUER.generate().text());

            get(other, key).requireStatus(200);
            get(other, "token.default").requireStatus(200);
            get(other, SERVER.createKey("read")).requireStatus(200);
            RestTestServer.Reply slowed = get(other, "token").requireStatus(429);
            assertThat(slowed.code()).isEqualTo("too-many-failures");
            assertThat(slowed.header("Retry-After")).isPresent();
        }
    }

    @Test
    void malformed_keys_wrong_secrets_and_invalid_tokens_count() {
        String key = SERVER.createKey("read");
        String wrongSecret =
                new PlaintextApiKey(PlaintextApiKey.parse(key).orElseThrow().id(), "0".repeat(32)).text();
        for (String guess : new String[] {"crl_wrong", wrongSecret, "token", "token.no-such-project"})
            try (CarillonServer other = SERVER.start()) {
                guessUntilSlowedDown(other, guess);
                get(other, key).requireStatus(200);
            }
    }

    @Test
    void invented_keys_do_not_reach_the_database() throws SQLException {
        try (CarillonServer other = SERVER.start();
                Connection owner = SERVER.database().dataSource().getConnection();
                Statement statement = owner.createStatement()) {
            owner.setAutoCommit(false);
            statement.execute("LOCK TABLE carillon.api_key IN ACCESS EXCLUSIVE MODE");
            // A guess that asked the database would wait for the lock and be answered with 503.
            get(other, OTHER_ISSUER.generate().text()).requireStatus(401);
            get(other, "crl_wrong").requireStatus(401);
            owner.rollback();
        }
    }

    @Test
    void the_audit_log_does_not_look_for_invented_keys() throws SQLException {
        try (CarillonServer other = SERVER.start();
                Connection owner = SERVER.database().dataSource().getConnection();
                Statement statement = owner.createStatement()) {
            owner.setAutoCommit(false);
            statement.execute("LOCK TABLE carillon.api_key IN ACCESS EXCLUSIVE MODE");
            SERVER.sendTo(other.port(), OTHER_ISSUER.generate().text(), "GET", "/v1/timeline", null)
                    .requireStatus(401);
            // A search for the key would wait for the lock and fail, without an entry.
            await().until(() -> SERVER.query("SELECT count(*) FROM carillon.audit WHERE object = 'GET /v1/timeline'")
                            .number()
                    == 1);
            owner.rollback();
        }
    }

    @Test
    void a_key_that_was_revoked_by_its_value_costs_the_database_nothing_when_it_is_sent_again() throws SQLException {
        String key = SERVER.createKey("read");
        try (CarillonServer other = SERVER.start();
                Connection owner = SERVER.database().dataSource().getConnection();
                Statement statement = owner.createStatement()) {
            revokeByValue(other, key).requireStatus(204);
            owner.setAutoCommit(false);
            statement.execute("LOCK TABLE carillon.api_key IN ACCESS EXCLUSIVE MODE");
            revokeByValue(other, key).requireStatus(204);
            int status = 204;
            for (int i = 0; i < 60 && status == 204; i++)
                status = revokeByValue(other, key).status();
            assertThat(status).isEqualTo(429);
            owner.rollback();
        }
    }

    @Test
    void wrong_secrets_and_keys_that_have_ended_reach_the_database_once_in_three_seconds() {
        AtomicInteger reads = new AtomicInteger();
        ShortCache<String> cache = new ShortCache<>(name -> {
            reads.incrementAndGet();
            return Optional.of(name).filter("valid"::equals);
        });
        long began = System.nanoTime();
        for (int i = 0; i < 1_000; i++) {
            assertThat(cache.find("valid")).contains("valid");
            assertThat(cache.find("revoked")).isEmpty();
        }
        long periods = 1 + (System.nanoTime() - began) / Duration.ofSeconds(3).toNanos();
        assertThat(reads.get()).isBetween(2, (int) (2 * periods));
    }

    @Test
    void many_invented_names_leave_most_of_the_others_in_the_cache() {
        AtomicInteger reads = new AtomicInteger();
        ShortCache<String> cache = new ShortCache<>(name -> {
            reads.incrementAndGet();
            return Optional.of(name);
        });
        for (int i = 0; i < 1_000; i++) cache.find("known-" + i);
        for (int i = 0; i < 10_000; i++) cache.find("invented-" + i);
        reads.set(0);

        for (int i = 0; i < 1_000; i++) cache.find("known-" + i);

        assertThat(reads.get()).isLessThan(500);
    }

    @Test
    void a_leaked_key_is_revoked_while_its_address_guesses() throws SQLException {
        String key = SERVER.createKey("read");
        try (CarillonServer other = SERVER.start();
                Connection owner = SERVER.database().dataSource().getConnection();
                Statement statement = owner.createStatement()) {
            guessUntilSlowedDown(other, "crl_wrong");
            owner.setAutoCommit(false);
            statement.execute("LOCK TABLE carillon.api_key IN ACCESS EXCLUSIVE MODE");
            revokeByValue(other, OTHER_ISSUER.generate().text()).requireStatus(429);
            owner.rollback();

            revokeByValue(other, key).requireStatus(204);
        }
        assertThat(SERVER.get(
                                SERVER.bootstrap(),
                                "/v1/keys/"
                                        + PlaintextApiKey.parse(key)
                                                .orElseThrow()
                                                .id())
                        .json()
                        .has("revokedAt"))
                .isTrue();
    }

    private static void guessUntilSlowedDown(CarillonServer server, String guess) {
        int status = 0;
        for (int i = 0; i < 60 && status != 429; i++)
            status = get(server, guess).status();
        assertThat(status).as(guess).isEqualTo(429);
    }

    private static RestTestServer.Reply get(CarillonServer server, String bearer) {
        return SERVER.sendTo(server.port(), bearer, "GET", "/v1/stats", null);
    }

    private static RestTestServer.Reply revokeByValue(CarillonServer server, String key) {
        return SERVER.sendTo(server.port(), null, "POST", "/v1/keys:revoke-by-value", "{\"key\":\"" + key + "\"}");
    }
}
