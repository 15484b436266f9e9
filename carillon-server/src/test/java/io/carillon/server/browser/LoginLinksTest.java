package io.carillon.server.browser;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.RestTestServer;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class LoginLinksTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

    private final LoginLinks links = new LoginLinks();

    @Test
    void a_token_is_valid_once() {
        String token = links.issue("crl_key", NOW);

        assertThat(links.redeem("other", NOW)).isEmpty();
        assertThat(links.redeem(token, NOW)).isEqualTo(Optional.of("crl_key"));
        assertThat(links.redeem(token, NOW)).isEmpty();
    }

    @Test
    void a_token_ends_after_ten_minutes() {
        Duration lifetime = Duration.ofMinutes(10);
        String late = links.issue("crl_key", NOW);
        String inTime = links.issue("crl_key", NOW);

        assertThat(links.redeem(late, NOW.plus(lifetime))).isEmpty();
        assertThat(links.redeem(inTime, NOW.plus(lifetime).minusMillis(1))).isPresent();
    }

    @Test
    void the_oldest_of_many_tokens_ends() {
        String first = links.issue("crl_key", NOW);
        for (int i = 0; i < 20; i++) links.issue("crl_key", NOW);

        assertThat(links.redeem(first, NOW)).isEmpty();
    }

    @Test
    void a_link_starts_a_session_with_the_rights_of_its_key_once() {
        String key = SERVER.createKey("read");
        String link = SERVER.server().loginLink("http://127.0.0.1", key);
        String body = "{\"token\":\"" + link.substring(link.lastIndexOf('/') + 1) + "\"}";

        RestTestServer.Reply started =
                SERVER.post(null, "/v1/session:redeem", body).requireStatus(201);
        String cookie = started.header("Set-Cookie").orElseThrow().split(";", 2)[0];

        assertThat(link).startsWith("http://127.0.0.1/ui#/login/");
        assertThat(started.at("/scopes/0")).isEqualTo("read");
        assertThat(SERVER.send(null, "GET", "/v1/session", null, "Cookie", cookie)
                        .requireStatus(200)
                        .at("/actor"))
                .startsWith("key ");
        SERVER.post(null, "/v1/session:redeem", body).requireStatus(401);
    }

    @Test
    void a_link_of_a_revoked_key_starts_no_session() {
        RestTestServer.Reply made =
                SERVER.post(SERVER.bootstrap(), "/v1/keys", "{\"name\":\"gone\",\"scopes\":[\"read\"]}");
        String link = SERVER.server().loginLink("", made.at("/key"));
        SERVER.delete(SERVER.bootstrap(), "/v1/keys/" + made.at("/id")).requireStatus(204);

        SERVER.post(null, "/v1/session:redeem", "{\"token\":\"" + link.substring(link.lastIndexOf('/') + 1) + "\"}")
                .requireStatus(401);
    }

    @Test
    void the_caller_is_shown_to_keys_and_sessions_only() {
        assertThat(SERVER.get(SERVER.bootstrap(), "/v1/session")
                        .requireStatus(200)
                        .at("/project"))
                .isEqualTo("default");
        SERVER.get(null, "/v1/session").requireStatus(401);
    }
}
