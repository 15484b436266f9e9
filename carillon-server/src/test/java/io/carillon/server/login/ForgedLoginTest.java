package io.carillon.server.login;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.server.CarillonServer;
import io.carillon.server.RestTestServer;
import io.carillon.server.login.ForgingProvider.Forgery;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A provider, or an attacker between it and the server, cannot start a session with anything but a valid token. */
class ForgedLoginTest {
    private static final ForgingProvider PROVIDER = new ForgingProvider();

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer(
            builder -> builder,
            server ->
                    server.provider(new OidcSettings(PROVIDER.issuer(), "client", Optional.empty(), Optional.empty())));

    @AfterAll
    static void stop_the_provider() {
        PROVIDER.close();
    }

    private static RestTestServer.Reply logIn(int port, String more) {
        TestProvider.Step started = TestProvider.start(SERVER, port);
        PROVIDER.startLogin(started.next());
        String state = started.next().getQuery().replaceAll(".*state=([^&]+).*", "$1");
        return TestProvider.complete(
                SERVER,
                port,
                new TestProvider.Step(
                        URI.create("http://x/ui/callback?code=c&state=" + state + more), started.cookies()));
    }

    private static String reason(RestTestServer.Reply reply) {
        assertThat(TestProvider.cookies(reply)).isEmpty();
        return reply.requireStatus(302).header("Location").orElseThrow().split("/", -1)[3];
    }

    @Test
    void a_valid_token_starts_a_session() {
        PROVIDER.forge(Forgery.NONE);
        TestProvider.cookie(logIn(SERVER.server().port(), ""));
        assertThat(PROVIDER.lastTokenRequest()).contains("code_verifier=", "client_id=client", "redirect_uri=");
    }

    @ParameterizedTest
    @EnumSource(
            value = Forgery.class,
            names = {
                "NO_NONCE",
                "OTHER_NONCE",
                "OTHER_ISSUER",
                "OTHER_AUDIENCE",
                "EXPIRED",
                "NO_EXPIRY",
                "NO_SIGNATURE",
                "OTHER_KEY",
                "HMAC_WITH_PUBLIC_KEY",
                "NO_SUBJECT",
                "LONG_SUBJECT",
                "NO_TOKEN"
            })
    void a_token_with_any_defect_starts_none(Forgery forgery) {
        PROVIDER.forge(forgery);
        assertThat(reason(logIn(SERVER.server().port(), ""))).isEqualTo("token-invalid");
    }

    @Test
    void an_answer_in_the_name_of_another_issuer_is_refused() {
        PROVIDER.forge(Forgery.NONE);
        assertThat(reason(logIn(SERVER.server().port(), "&iss=https://other.example")))
                .isEqualTo("token-invalid");
        TestProvider.cookie(logIn(SERVER.server().port(), "&iss=" + PROVIDER.issuer()));
    }

    @ParameterizedTest
    @EnumSource(
            value = Forgery.class,
            names = {"REDIRECTS", "ENDLESS", "SLOW", "NO_ANSWER"})
    void a_provider_that_does_not_answer_as_it_should_holds_nothing(Forgery forgery) {
        PROVIDER.forge(forgery);
        long began = System.nanoTime();
        assertThat(reason(logIn(SERVER.server().port(), ""))).isIn("provider-unreachable", "provider-refused");
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(20));
    }

    @Test
    void the_configuration_must_be_that_of_the_issuer_and_name_safe_addresses() {
        for (Forgery forgery : new Forgery[] {Forgery.CONFIGURATION_OF_OTHERS, Forgery.PLAIN_HTTP_TOKENS}) {
            PROVIDER.forge(forgery);
            try (CarillonServer fresh = SERVER.start()) {
                RestTestServer.Reply reply = SERVER.sendTo(fresh.port(), null, "GET", "/ui/login", null);
                assertThat(reason(reply)).as("%s", forgery).isEqualTo("provider-refused");
            }
        }
        PROVIDER.forge(Forgery.NONE);
        assertThatThrownBy(() -> new OidcSettings("http://id.example", "client", Optional.empty(), Optional.empty()))
                .hasMessageContaining("https://");
    }

    @Test
    void a_provider_that_is_away_is_named_and_the_login_works_when_it_is_back() {
        PROVIDER.forge(Forgery.AWAY);
        try (CarillonServer fresh = SERVER.start()) {
            RestTestServer.Reply reply = SERVER.sendTo(fresh.port(), null, "GET", "/ui/login", null);
            assertThat(reason(reply)).isEqualTo("provider-unreachable");
            // The API needs no provider.
            SERVER.sendTo(fresh.port(), SERVER.bootstrap(), "GET", "/v1/session", null)
                    .requireStatus(200);
            PROVIDER.forge(Forgery.NONE);
            org.awaitility.Awaitility.await()
                    .untilAsserted(() -> assertThat(SERVER.sendTo(fresh.port(), null, "GET", "/ui/login", null)
                                    .header("Location")
                                    .orElseThrow())
                            .startsWith(PROVIDER.issuer()));
        }
    }
}
