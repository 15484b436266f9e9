package io.carillon.server.login;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.server.CarillonServer;
import io.carillon.server.RestTestServer;
import io.carillon.server.access.UserSessions;
import java.net.URI;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Users log in with an identity provider: a real one, over HTTP. */
class LoginTest {
    private static final TestProvider PROVIDER = new TestProvider();

    @RegisterExtension
    static final RestTestServer SERVER =
            new RestTestServer(builder -> builder, server -> server.provider(PROVIDER.settings()));

    private static int port() {
        return SERVER.server().port();
    }

    private static RestTestServer.Reply get(String cookie, String path) {
        return SERVER.send(null, "GET", path, null, "Cookie", cookie);
    }

    @Test
    void a_user_logs_in_and_is_known_by_issuer_and_subject() {
        PROVIDER.nextUser("ann-1", Map.of("name", "Ann", "email", "ann@example.com"));
        TestProvider.Step started = TestProvider.start(SERVER, port());
        assertThat(started.next().getQuery())
                .contains("response_type=code", "code_challenge_method=S256", "code_challenge=", "nonce=", "state=");

        RestTestServer.Reply done = TestProvider.complete(SERVER, port(), PROVIDER.logIn(started));

        assertThat(done.requireStatus(302).header("Location")).contains("../ui");
        assertThat(TestProvider.cookies(done))
                .anySatisfy(cookie -> assertThat(cookie)
                        .startsWith("carillon-session=")
                        .contains("HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43"))
                .anySatisfy(cookie ->
                        assertThat(cookie).startsWith("carillon-login=;").contains("Max-Age=0"));
        RestTestServer.Reply session =
                get(TestProvider.cookie(done), "/v1/session").requireStatus(200);
        assertThat(session.at("/user/issuer")).isEqualTo(PROVIDER.issuer());
        assertThat(session.at("/user/subject")).isEqualTo("ann-1");
        assertThat(session.at("/user/name")).isEqualTo("Ann");
        assertThat(session.at("/user/email")).isEqualTo("ann@example.com");
        assertThat(session.at("/actor")).isEqualTo("user " + session.at("/user/id"));
        assertThat(session.json().path("projects")).isEmpty();
        assertThat(SERVER.query(
                                "SELECT count(*) FROM carillon.audit WHERE action = 'session.start' AND actor = ?",
                                session.at("/actor"))
                        .text())
                .isEqualTo("1");
    }

    @Test
    void the_same_email_is_another_user() {
        String ann = PROVIDER.session(SERVER, port(), "email-1", Map.of("email", "shared@example.com"));
        String eve = PROVIDER.session(
                SERVER, port(), "email-2", Map.of("email", "shared@example.com", "email_verified", true));

        assertThat(get(ann, "/v1/session").at("/user/id"))
                .isNotEqualTo(get(eve, "/v1/session").at("/user/id"));
    }

    @Test
    void a_user_without_a_project_sees_nothing_but_the_own_session() {
        String cookie = PROVIDER.session(SERVER, port(), "lonely", Map.of());

        assertThat(get(cookie, "/v1/projects").requireStatus(200).json().path("items"))
                .isEmpty();
        assertThat(get(cookie, "/v1/runs").requireStatus(403).code()).isEqualTo("not-a-member");
        assertThat(SERVER.send(null, "GET", "/v1/runs", null, "Cookie", cookie, "X-Carillon-Project", "default")
                        .requireStatus(403)
                        .code())
                .isEqualTo("not-a-member");
    }

    @Test
    void an_answer_without_the_login_of_this_browser_is_refused() {
        PROVIDER.nextUser("victim", Map.of());
        TestProvider.Step attacker = PROVIDER.logIn(TestProvider.start(SERVER, port()));
        String victims = TestProvider.start(SERVER, port()).cookies();

        for (String cookies : new String[] {"", victims, attacker.cookies() + "x"}) {
            RestTestServer.Reply refused =
                    TestProvider.complete(SERVER, port(), new TestProvider.Step(attacker.next(), cookies));
            assertThat(refused.requireStatus(302).header("Location").orElseThrow())
                    .startsWith("../ui#/login-failed/login-expired/");
            assertThat(TestProvider.cookies(refused)).isEmpty();
        }
        assertThat(TestProvider.complete(SERVER, port(), attacker).header("Location"))
                .contains("../ui");
    }

    @Test
    void a_code_is_used_once() {
        PROVIDER.nextUser("replayed", Map.of());
        TestProvider.Step back = PROVIDER.logIn(TestProvider.start(SERVER, port()));
        assertThat(TestProvider.complete(SERVER, port(), back).header("Location"))
                .contains("../ui");

        RestTestServer.Reply again = TestProvider.complete(SERVER, port(), back);

        assertThat(again.header("Location").orElseThrow()).contains("#/login-failed/");
        assertThat(TestProvider.cookies(again)).isEmpty();
    }

    @Test
    void errors_of_the_provider_lead_to_a_page_that_does_not_repeat_their_text() {
        TestProvider.Step started = TestProvider.start(SERVER, port());
        String state = started.next().getQuery().replaceAll(".*state=([^&]+).*", "$1");
        for (Map.Entry<String, String> error : Map.of(
                        "access_denied", "access-denied", "server_error", "provider-refused")
                .entrySet()) {
            RestTestServer.Reply reply = TestProvider.complete(
                    SERVER,
                    port(),
                    new TestProvider.Step(
                            URI.create("http://x/ui/callback?error=%s&error_description=evil&vendor=1&state=%s"
                                    .formatted(error.getKey(), state)),
                            started.cookies()));
            assertThat(reply.requireStatus(302).header("Location").orElseThrow())
                    .startsWith("../ui#/login-failed/" + error.getValue() + "/req_")
                    .doesNotContain("evil");
        }
    }

    @Test
    void the_claim_makes_the_first_user_with_it_an_admin_and_no_other() {
        String first = PROVIDER.session(SERVER, port(), "boss-1", Map.of("groups", List.of("a", TestProvider.ADMINS)));
        String second = PROVIDER.session(SERVER, port(), "boss-2", Map.of("groups", List.of(TestProvider.ADMINS)));
        String other = PROVIDER.session(SERVER, port(), "boss-3", Map.of("groups", List.of("a")));

        assertThat(get(first, "/v1/session").at("/projects/0/role")).isEqualTo("admin");
        assertThat(get(first, "/v1/nodes").status()).isEqualTo(200);
        assertThat(get(second, "/v1/session").json().path("projects")).isEmpty();
        assertThat(get(other, "/v1/session").json().path("projects")).isEmpty();

        // The claim does not undo what an admin decided later.
        String id = get(first, "/v1/session").at("/user/id");
        SERVER.put(SERVER.bootstrap(), "/v1/members/" + id, "{\"role\":\"viewer\"}")
                .requireStatus(200);
        String again = PROVIDER.session(SERVER, port(), "boss-1", Map.of("groups", List.of(TestProvider.ADMINS)));
        assertThat(get(again, "/v1/session").at("/projects/0/role")).isEqualTo("viewer");
        String late = PROVIDER.session(SERVER, port(), "boss-2", Map.of("groups", List.of(TestProvider.ADMINS)));
        assertThat(get(late, "/v1/session").json().path("projects")).isEmpty();
    }

    @Test
    void any_server_on_the_database_completes_a_login() {
        try (CarillonServer one = behindProxy();
                CarillonServer other = behindProxy()) {
            PROVIDER.nextUser("roaming", Map.of());
            TestProvider.Step started = TestProvider.start(SERVER, one.port());
            assertThat(started.next().getQuery()).contains("redirect_uri=https://carillon.example/base/ui/callback");
            assertThat(started.cookies()).startsWith("__Host-carillon-login=");

            RestTestServer.Reply done = TestProvider.complete(SERVER, other.port(), atServer(PROVIDER.logIn(started)));

            assertThat(TestProvider.cookies(done)).allMatch(cookie -> cookie.endsWith("; Secure"));
            SERVER.sendTo(one.port(), null, "GET", "/v1/session", null, "Cookie", TestProvider.cookie(done))
                    .requireStatus(200);
        }
    }

    private static CarillonServer behindProxy() {
        return SERVER.start(
                server -> server.provider(PROVIDER.settings()).publicUrl(URI.create("https://carillon.example/base")));
    }

    /** The proxy removes the prefix of the path. */
    private static TestProvider.Step atServer(TestProvider.Step back) {
        assertThat(back.next().getPath()).isEqualTo("/base/ui/callback");
        return new TestProvider.Step(
                URI.create("http://x/ui/callback?" + back.next().getRawQuery()), back.cookies());
    }

    @Test
    void a_server_that_others_can_reach_needs_its_public_address() {
        assertThatThrownBy(() -> SERVER.start(
                        server -> server.provider(PROVIDER.settings()).allowedHosts(List.of("carillon.example"))))
                .hasMessageContaining("public-url");
        assertThatThrownBy(() -> SERVER.start(server -> server.publicUrl(URI.create("http://carillon.example"))))
                .hasMessageContaining("publicUrl must be a URL with https");
    }

    @Test
    void a_session_token_is_no_key() {
        String cookie = PROVIDER.session(SERVER, port(), "token", Map.of());
        String token = UserSessions.newToken();
        SERVER.database()
                .execute("UPDATE carillon.user_session s SET hash = decode('%s', 'hex') FROM carillon.app_user u"
                                .formatted(HexFormat.of().formatHex(UserSessions.hash(token)))
                        + " WHERE u.id = s.user_id AND u.subject = 'token'");

        SERVER.get(token, "/v1/session").requireStatus(401);
        SERVER.send(null, "GET", "/v1/session", null, "Cookie", cookie + "x").requireStatus(401);
    }
}
