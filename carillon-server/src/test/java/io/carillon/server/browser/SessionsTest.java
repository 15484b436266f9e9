package io.carillon.server.browser;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.server.CarillonServer;
import io.carillon.server.RawHttp;
import io.carillon.server.RestTestServer;
import io.carillon.server.access.PlaintextApiKey;
import io.carillon.server.http.Caller;
import io.carillon.server.http.KeyLimits;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A browser uses the API with a session cookie, and pages of other sites cannot use that cookie. */
class SessionsTest {
    private static final String RUN = "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\"}";

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer(
            builder -> builder,
            server -> server.allowedHosts(List.of("carillon.example", "other-name.example"))
                    .tokenVerifier(bearer -> bearer.equals("token")
                            ? Optional.of(new Caller("default", "subject ann", Set.of("read"), tokenLimits()))
                            : Optional.empty()));

    private static volatile Instant tokenEnd = Instant.parse("2999-01-01T00:00:00Z");

    private static KeyLimits tokenLimits() {
        return KeyLimits.until(tokenEnd);
    }

    /** Starts a session and returns its cookie as a browser sends it. */
    private static String startSession(String key) {
        return cookieOf(SERVER.post(key, "/v1/session", null).requireStatus(201));
    }

    private static String cookieOf(RestTestServer.Reply reply) {
        return reply.header("Set-Cookie").orElseThrow().split(";", 2)[0];
    }

    private static RestTestServer.Reply send(
            String cookie, String method, String path, String body, String... headers) {
        List<String> all = new ArrayList<>(List.of("Cookie", cookie));
        all.addAll(List.of(headers));
        return SERVER.send(null, method, path, body, all.toArray(String[]::new));
    }

    /** Sends a request with a Host header, which the HTTP client of the JDK does not allow. */
    private static RestTestServer.Reply sendTo(String host, String line, String... headers) {
        List<String> all = new ArrayList<>(List.of("Host: " + host, "Connection: close"));
        all.addAll(List.of(headers));
        return RawHttp.send(SERVER.server().port(), new RawHttp.Request(line + " HTTP/1.1", all, new byte[0]));
    }

    @Test
    void a_key_is_exchanged_for_a_cookie_that_has_the_rights_of_the_key() {
        String key = SERVER.createKey("read");
        RestTestServer.Reply started = SERVER.post(key, "/v1/session", null).requireStatus(201);

        assertThat(started.at("/project")).isEqualTo("default");
        assertThat(started.at("/scopes/0")).isEqualTo("read");
        assertThat(started.header("Set-Cookie").orElseThrow())
                .startsWith("__Host-carillon-session=")
                .contains("HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200", "; Secure")
                .doesNotContain(key);
        String cookie = cookieOf(started);
        send(cookie, "GET", "/v1/runs", null).requireStatus(200);
        assertThat(send(cookie, "POST", "/v1/runs", RUN, "X-Carillon-CSRF", "1")
                        .requireStatus(403)
                        .code())
                .isEqualTo("forbidden");
        assertThat(SERVER.get(SERVER.bootstrap(), "/v1/audit?action=session.start")
                        .requireStatus(200)
                        .text())
                .contains(PlaintextApiKey.parse(key).orElseThrow().id());
        RestTestServer.Reply ended = send(cookie, "DELETE", "/v1/session", null, "X-Carillon-CSRF", "1")
                .requireStatus(204);
        assertThat(SERVER.get(SERVER.bootstrap(), "/v1/audit?action=session.end")
                        .requireStatus(200)
                        .text())
                .contains(PlaintextApiKey.parse(key).orElseThrow().id());
        assertThat(ended.header("Set-Cookie").orElseThrow())
                .startsWith("__Host-carillon-session=;")
                .contains("Max-Age=0");
    }

    @Test
    void the_cookie_is_secure_unless_no_proxy_can_be_in_front_of_the_server() {
        SERVER.createKey("read");
        try (CarillonServer local = SERVER.start(server -> server);
                CarillonServer open = SERVER.start(server -> server.listen("0.0.0.0", 0))) {
            String plain = startSessionAt(local);
            assertThat(plain).startsWith("carillon-session=").doesNotContain("Secure");
            String cookie = plain.split(";", 2)[0];
            assertThat(sendAt(local, "GET /v1/runs", "Cookie: " + cookie).status())
                    .isEqualTo(200);
            assertThat(sendAt(local, "DELETE /v1/session", "Cookie: " + cookie, "X-Carillon-CSRF: 1")
                            .header("Set-Cookie")
                            .orElseThrow())
                    .startsWith("carillon-session=;");

            for (String header : List.of(
                    "Forwarded: proto=https",
                    "Via: 1.1 proxy",
                    "X-Forwarded-For: 192.0.2.1",
                    "X-Forwarded-Host: carillon.example",
                    "X-Forwarded-Proto: https",
                    "X-Real-IP: 192.0.2.1",
                    "Origin: https://carillon.example"))
                assertThat(startSessionAt(local, header)).as(header).matches("__Host-.*; Secure");
            assertThat(startSessionAt(open)).matches("__Host-.*; Secure");
            assertThat(startSessionAt(SERVER.server())).matches("__Host-.*; Secure");
            // A proxy may add its headers to some requests only.
            String secure =
                    startSessionAt(local, "Origin: https://carillon.example").split(";", 2)[0];
            assertThat(sendAt(local, "GET /v1/runs", "Cookie: " + secure).status())
                    .isEqualTo(200);
        }
    }

    private static String startSessionAt(CarillonServer server, String... headers) {
        List<String> all = new ArrayList<>(List.of("Authorization: Bearer " + SERVER.bootstrap()));
        all.addAll(List.of(headers));
        return sendAt(server, "POST /v1/session", all.toArray(String[]::new))
                .requireStatus(201)
                .header("Set-Cookie")
                .orElseThrow();
    }

    private static RestTestServer.Reply sendAt(CarillonServer server, String line, String... headers) {
        List<String> all = new ArrayList<>(List.of("Host: 127.0.0.1", "Connection: close"));
        all.addAll(List.of(headers));
        return RawHttp.send(server.port(), new RawHttp.Request(line + " HTTP/1.1", all, new byte[0]));
    }

    @Test
    void a_session_ends_with_its_token() {
        tokenEnd = Instant.now().plusSeconds(3).truncatedTo(ChronoUnit.MILLIS);
        RestTestServer.Reply started = SERVER.post("token", "/v1/session", null).requireStatus(201);

        assertThat(Instant.parse(started.at("/expiresAt"))).isEqualTo(tokenEnd);
        assertThat(started.header("Set-Cookie").orElseThrow()).containsPattern("Max-Age=[0-3];");
        // The verifier still accepts the token: the session has an end of its own.
        await().until(() -> send(cookieOf(started), "GET", "/v1/runs", null).status() == 401);
        assertThat(Instant.now()).isAfter(tokenEnd.minusMillis(500));
        SERVER.post("token", "/v1/session", null).requireStatus(401);
    }

    @Test
    void requests_with_an_ended_session_are_no_guesses() {
        String key = SERVER.createKey("read");
        try (CarillonServer other = SERVER.start()) {
            String cookie =
                    "Cookie: " + startSessionAt(other, "X-Real-IP: 192.0.2.1").split(";", 2)[0];
            String ended = "Cookie: "
                    + sendAt(other, "POST /v1/session", "Authorization: Bearer " + key, "X-Real-IP: 192.0.2.1")
                            .header("Set-Cookie")
                            .orElseThrow()
                            .split(";", 2)[0];
            SERVER.delete(
                            SERVER.bootstrap(),
                            "/v1/keys/"
                                    + PlaintextApiKey.parse(key).orElseThrow().id())
                    .requireStatus(204);
            await().until(() -> sendAt(other, "GET /v1/runs", ended).status() == 401);
            for (int i = 0; i < 60; i++) sendAt(other, "GET /v1/runs", ended).requireStatus(401);

            sendAt(other, "GET /v1/runs", "Authorization: Bearer crl_wrong").requireStatus(401);
            sendAt(other, "GET /v1/runs", cookie).requireStatus(200);
        }
    }

    @Test
    void refused_requests_of_other_sites_are_recorded() {
        String admin = SERVER.createProject("visited");
        String cookie = startSession(admin);
        send(cookie, "POST", "/v1/runs", RUN, "X-Carillon-CSRF", "1", "Origin", "https://evil.example")
                .requireStatus(403);
        send(cookie, "POST", "/v1/runs", RUN).requireStatus(403);

        String entries = await().until(
                        () -> SERVER.get(admin, "/v1/audit?action=request.forbidden")
                                .requireStatus(200)
                                .text(),
                        text -> text.split("request.forbidden", -1).length == 3);
        assertThat(entries)
                .contains(
                        "POST /v1/runs",
                        "key " + PlaintextApiKey.parse(admin).orElseThrow().id(),
                        "127.0.0.1");
    }

    @Test
    void over_tls_the_cookie_is_secure_and_bound_to_its_host() {
        RestTestServer.Reply started = sendTo(
                        "carillon.example", "POST /v1/session", "Authorization: Bearer " + SERVER.bootstrap())
                .requireStatus(201);

        assertThat(started.header("Set-Cookie").orElseThrow())
                .startsWith("__Host-carillon-session=")
                .endsWith("; Secure");
        sendTo("carillon.example", "GET /v1/runs", "Cookie: " + cookieOf(started))
                .requireStatus(200);
    }

    @Test
    void changes_with_a_session_need_the_csrf_header_and_an_own_origin() {
        String cookie = startSession(SERVER.bootstrap());
        String port = ":" + SERVER.server().port();
        send(cookie, "POST", "/v1/runs", RUN, "X-Carillon-CSRF", "1").requireStatus(201);
        send(cookie, "POST", "/v1/runs", RUN, "X-Carillon-CSRF", "1", "Origin", "http://127.0.0.1" + port)
                .requireStatus(201);
        send(cookie, "POST", "/v1/runs", RUN, "X-Carillon-CSRF", "1", "Origin", "https://other-name.example")
                .requireStatus(201);

        assertThat(send(cookie, "POST", "/v1/runs", RUN).requireStatus(403).code())
                .isEqualTo("csrf-header-missing");
        for (String origin : List.of(
                "http://evil.example", "null", "http://127.0.0.1:1", "http://127.0.0.1" + port + ".evil.example"))
            assertThat(send(cookie, "POST", "/v1/runs", RUN, "X-Carillon-CSRF", "1", "Origin", origin)
                            .requireStatus(403)
                            .code())
                    .as(origin)
                    .isEqualTo("origin-not-allowed");
        send(cookie, "GET", "/v1/runs", null, "Sec-Fetch-Site", "cross-site").requireStatus(403);
        send(cookie, "GET", "/v1/runs", null, "Sec-Fetch-Site", "same-origin").requireStatus(200);
        // A key is no ambient credential: programs need neither header.
        SERVER.send(SERVER.bootstrap(), "POST", "/v1/runs", RUN, "Cookie", cookie, "Origin", "http://evil.example")
                .requireStatus(201);
    }

    @Test
    void a_session_ends_with_its_key() {
        String key = SERVER.createKey("read");
        String cookie = startSession(key);
        send(cookie, "GET", "/v1/runs", null).requireStatus(200);

        SERVER.delete(
                        SERVER.bootstrap(),
                        "/v1/keys/" + PlaintextApiKey.parse(key).orElseThrow().id())
                .requireStatus(204);

        await().atMost(Duration.ofSeconds(5))
                .until(() -> send(cookie, "GET", "/v1/runs", null).status() == 401);
    }

    @Test
    void a_forged_changed_or_copied_cookie_is_refused() {
        String cookie = startSession(SERVER.bootstrap());
        String value = cookie.substring(cookie.indexOf('=') + 1);
        char last = value.charAt(20);
        String changed = value.substring(0, 20) + (last == 'A' ? 'B' : 'A') + value.substring(21);
        for (String forged : List.of("", "x", "AAAA", changed, value + "AA", SERVER.bootstrap()))
            assertThat(send("__Host-carillon-session=" + forged, "GET", "/v1/runs", null)
                            .requireStatus(401)
                            .code())
                    .as(forged)
                    .isEqualTo("unauthenticated");
        // A session cannot be extended by another one.
        send(cookie, "POST", "/v1/session", null, "X-Carillon-CSRF", "1").requireStatus(400);
    }

    @Test
    void requests_for_unknown_host_names_are_misdirected() {
        assertThat(sendTo("evil.example", "GET /version").requireStatus(421).code())
                .isEqualTo("misdirected-request");
        sendTo("evil.example", "GET /v1/runs", "Authorization: Bearer " + SERVER.bootstrap())
                .requireStatus(421);
        sendTo("localhost", "GET /version").requireStatus(200);
        sendTo("carillon.example:8443", "GET /version").requireStatus(200);
        sendTo("probe.example", "GET /healthz").requireStatus(200);
    }

    @Test
    void every_response_has_the_headers_that_protect_browsers() {
        for (RestTestServer.Reply reply : List.of(
                sendTo("localhost", "GET /healthz"),
                sendTo("localhost", "GET /v1/runs"),
                sendTo("localhost", "GET /nothing"),
                sendTo("localhost", "GET /%zz"),
                sendTo("localhost", "GET /healthz", "Malformed"))) {
            assertThat(reply.header("Content-Security-Policy"))
                    .as("%s", reply)
                    .contains("default-src 'none'; frame-ancestors 'none'");
            assertThat(reply.header("X-Frame-Options")).contains("DENY");
            assertThat(reply.header("X-Content-Type-Options")).contains("nosniff");
            assertThat(reply.header("Referrer-Policy")).contains("no-referrer");
            assertThat(reply.header("Cross-Origin-Resource-Policy")).contains("same-origin");
            assertThat(reply.header("Cache-Control")).contains("no-store");
        }
    }
}
