package io.carillon.server.login;

import io.carillon.server.RestTestServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import no.nav.security.mock.oauth2.MockOAuth2Server;
import no.nav.security.mock.oauth2.token.DefaultOAuth2TokenCallback;

/** A real identity provider in this process, and the steps that a browser takes to log in with it. */
public final class TestProvider {
    public static final String CLIENT = "carillon-dashboard";
    public static final String ADMINS = "carillon-admins";
    private static final String NAME = "company";

    private final MockOAuth2Server server = new MockOAuth2Server();
    private final HttpClient client = HttpClient.newHttpClient();

    public TestProvider() {
        server.start();
    }

    /** Where a login of a browser stands: what the provider or the server asks it to call next, and its cookies. */
    public record Step(URI next, String cookies) {}

    public String issuer() {
        return server.issuerUrl(NAME).toString();
    }

    public OidcSettings settings() {
        return new OidcSettings(
                issuer(),
                CLIENT,
                Optional.of("secret of the client"),
                OidcSettings.AdminClaim.parse("groups=" + ADMINS));
    }

    /** Sets the user of the next token. */
    public void nextUser(String subject, Map<String, Object> claims) {
        server.enqueueCallback(new DefaultOAuth2TokenCallback(NAME, subject, "JWT", List.of(CLIENT), claims, 3600));
    }

    /** Starts a login; the browser is at the server. */
    public static Step start(RestTestServer server, int port) {
        RestTestServer.Reply reply =
                server.sendTo(port, null, "GET", "/ui/login", null).requireStatus(302);
        return new Step(
                URI.create(reply.header("Location").orElseThrow()),
                reply.header("Set-Cookie").orElse("").split(";", 2)[0]);
    }

    /** Logs in at the provider, which sends the browser back to the server. */
    public Step logIn(Step started) {
        try {
            HttpResponse<String> response =
                    client.send(HttpRequest.newBuilder(started.next()).build(), HttpResponse.BodyHandlers.ofString());
            return new Step(URI.create(response.headers().firstValue("Location").orElseThrow()), started.cookies());
        } catch (IOException | InterruptedException failure) {
            throw new AssertionError(failure);
        }
    }

    /** Calls the server as the provider asked. */
    public static RestTestServer.Reply complete(RestTestServer server, int port, Step back) {
        return server.sendTo(
                port,
                null,
                "GET",
                back.next().getRawPath() + "?" + back.next().getRawQuery(),
                null,
                "Cookie",
                back.cookies(),
                "User-Agent",
                "Test browser");
    }

    /** Logs in a user and returns the session cookie. */
    public String session(RestTestServer server, int port, String subject, Map<String, Object> claims) {
        nextUser(subject, claims);
        return cookie(complete(server, port, logIn(start(server, port))));
    }

    /** Returns the session cookie of a response. */
    public static String cookie(RestTestServer.Reply reply) {
        return cookies(reply).stream()
                .map(line -> line.split(";", 2)[0])
                .filter(pair -> pair.contains("carillon-session="))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no session: " + reply));
    }

    public static List<String> cookies(RestTestServer.Reply reply) {
        return reply.headers().entrySet().stream()
                .filter(header -> header.getKey().equalsIgnoreCase("Set-Cookie"))
                .flatMap(header -> header.getValue().stream())
                .toList();
    }
}
