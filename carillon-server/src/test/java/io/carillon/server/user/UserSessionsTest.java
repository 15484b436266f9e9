package io.carillon.server.user;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.server.CarillonServer;
import io.carillon.server.RestTestServer;
import io.carillon.server.login.TestProvider;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Sessions of users: listed, revoked, and ended by logout, time and another provider. */
class UserSessionsTest {
    private static final TestProvider PROVIDER = new TestProvider();

    @RegisterExtension
    static final RestTestServer SERVER =
            new RestTestServer(builder -> builder, server -> server.provider(PROVIDER.settings()));

    private static String logIn(String subject) {
        return PROVIDER.session(SERVER, SERVER.server().port(), subject, Map.of());
    }

    private static RestTestServer.Reply send(String cookie, String method, String path) {
        return SERVER.send(null, method, path, null, "Cookie", cookie, "X-Carillon-CSRF", "1");
    }

    private static void awaitEnd(String cookie) {
        await().untilAsserted(() ->
                assertThat(send(cookie, "GET", "/v1/session").status()).isEqualTo(401));
    }

    @Test
    void a_user_lists_and_revokes_the_own_sessions() {
        String one = logIn("ann");
        String two = logIn("ann");
        String eve = logIn("eve");

        RestTestServer.Reply listed = send(two, "GET", "/v1/sessions").requireStatus(200);
        assertThat(listed.json().path("items")).hasSize(2);
        assertThat(listed.at("/items/0/browser")).isEqualTo("Test browser");
        assertThat(listed.at("/items/0/current")).isEqualTo("true");
        String id = listed.at("/items/1/id");
        send(eve, "DELETE", "/v1/sessions/" + id).requireStatus(404);
        SERVER.delete(SERVER.bootstrap(), "/v1/sessions/" + id).requireStatus(404);
        assertThat(SERVER.send(null, "DELETE", "/v1/sessions/" + id, null, "Cookie", two)
                        .requireStatus(403)
                        .code())
                .isEqualTo("csrf-header-missing");
        send(two, "DELETE", "/v1/sessions/" + id).requireStatus(204);
        awaitEnd(one);
        send(two, "GET", "/v1/session").requireStatus(200);
    }

    @Test
    void logout_ends_the_session_also_for_a_copy_of_its_cookie() {
        String cookie = logIn("leaver");
        assertThat(send(cookie, "DELETE", "/v1/session")
                        .requireStatus(204)
                        .header("Set-Cookie")
                        .orElseThrow())
                .startsWith("carillon-session=;");
        awaitEnd(cookie);
    }

    @Test
    void a_session_that_is_not_used_ends() {
        String cookie = logIn("idle");
        SERVER.database()
                .execute("UPDATE carillon.user_session s SET used_at = used_at - interval '121 minutes'"
                        + " FROM carillon.app_user u WHERE u.id = s.user_id AND u.subject = 'idle'");
        send(cookie, "GET", "/v1/session").requireStatus(401);
    }

    @Tag("slow")
    @Test
    void an_open_stream_is_no_use_of_its_session() throws Exception {
        String cookie = logIn("watching");
        SERVER.post(SERVER.bootstrap(), "/v1/members", "{\"subject\":\"watching\",\"role\":\"viewer\"}")
                .requireStatus(201);
        HttpResponse<Stream<String>> stream = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create(
                                        "http://127.0.0.1:" + SERVER.server().port() + "/v1/stream"))
                                .header("Cookie", cookie)
                                .build(),
                        HttpResponse.BodyHandlers.ofLines());
        // The stream is checked every four seconds.
        SERVER.database()
                .execute("UPDATE carillon.user_session s SET used_at = used_at - interval '119 minutes 54 seconds'"
                        + " FROM carillon.app_user u WHERE u.id = s.user_id AND u.subject = 'watching'");

        CompletableFuture<Boolean> ended = CompletableFuture.supplyAsync(() -> {
            try (Stream<String> lines = stream.body()) {
                return lines.anyMatch(line -> line.equals("event: stream.ended"));
            }
        });

        assertThat(ended.get(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void what_an_open_page_reads_by_itself_is_no_use_of_its_session() {
        String cookie = logIn("away");
        SERVER.database()
                .execute("UPDATE carillon.user_session s SET used_at = used_at - interval '90 minutes'"
                        + " FROM carillon.app_user u WHERE u.id = s.user_id AND u.subject = 'away'");
        String minutes = "SELECT extract(epoch FROM carillon.clock() - s.used_at)::bigint / 60"
                + " FROM carillon.user_session s JOIN carillon.app_user u ON u.id = s.user_id WHERE u.subject = 'away'";

        SERVER.send(null, "GET", "/v1/session", null, "Cookie", cookie, "X-Carillon-Refresh", "1")
                .requireStatus(200);

        assertThat(SERVER.query(minutes).number()).isBetween(90L, 95L);
        send(cookie, "GET", "/v1/session").requireStatus(200);
        assertThat(SERVER.query(minutes).number()).isLessThan(5);
    }

    @Test
    void a_session_of_another_provider_or_without_one_is_not_accepted() {
        String cookie = logIn("moved");
        TestProvider other = new TestProvider();
        try (CarillonServer without = SERVER.start(server -> server);
                CarillonServer elsewhere = SERVER.start(server -> server.provider(other.settings()))) {
            for (CarillonServer server : new CarillonServer[] {without, elsewhere})
                SERVER.sendTo(server.port(), null, "GET", "/v1/session", null, "Cookie", cookie)
                        .requireStatus(401);
            // The same subject of another issuer is another user.
            String same = other.session(SERVER, elsewhere.port(), "moved", Map.of());
            assertThat(SERVER.sendTo(elsewhere.port(), null, "GET", "/v1/session", null, "Cookie", same)
                            .at("/user/id"))
                    .isNotEqualTo(send(cookie, "GET", "/v1/session").at("/user/id"));
            SERVER.sendTo(without.port(), null, "GET", "/ui/login", null).requireStatus(404);
        }
    }

    @Test
    void a_user_has_a_limited_number_of_sessions() {
        String first = logIn("many");
        for (int i = 0; i < 20; i++) logIn("many");
        awaitEnd(first);
        assertThat(send(logIn("many"), "GET", "/v1/sessions").json().path("items"))
                .hasSize(20);
    }

    @Test
    void keys_have_no_stored_sessions_and_cannot_name_a_project() {
        assertThat(SERVER.get(SERVER.bootstrap(), "/v1/sessions").json().path("items"))
                .isEmpty();
        assertThat(SERVER.send(SERVER.bootstrap(), "GET", "/v1/session", null, "X-Carillon-Project", "alpha")
                        .at("/project"))
                .isEqualTo("default");
    }
}
