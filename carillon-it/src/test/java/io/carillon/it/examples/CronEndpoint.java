package io.carillon.it.examples;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.carillon.Carillon;
import io.carillon.RunDueResult;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;

/**
 * An endpoint for an external cron service, called every minute:
 * {@code curl -X POST -H "Authorization: Bearer …" https://…/run-due}.
 */
public final class CronEndpoint implements AutoCloseable {
    private final Carillon carillon;
    private final byte[] expected;
    private final HttpServer server;

    public CronEndpoint(Carillon carillon, String token) throws IOException {
        this.carillon = carillon;
        this.expected = ("Bearer " + token).getBytes(StandardCharsets.UTF_8);
        this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/run-due", this::runDue);
        server.start();
    }

    public URI address() {
        return URI.create("http://localhost:" + server.getAddress().getPort() + "/run-due");
    }

    private void runDue(HttpExchange exchange) throws IOException {
        if (!exchange.getRequestMethod().equals("POST")) answer(exchange, 405, "{\"error\":\"POST only\"}");
        else if (!authorized(exchange)) answer(exchange, 401, "{\"error\":\"a bearer token is needed\"}");
        else {
            RunDueResult result = carillon.runDue(Duration.ofSeconds(20));
            answer(exchange, 200, "{\"processed\":%d,\"errors\":%d}".formatted(result.processed(), result.errors()));
        }
    }

    /** Compares in constant time, so that the response time reveals nothing about the token. */
    private boolean authorized(HttpExchange exchange) {
        String given = exchange.getRequestHeaders().getFirst("Authorization");
        return given != null && MessageDigest.isEqual(expected, given.getBytes(StandardCharsets.UTF_8));
    }

    private static void answer(HttpExchange exchange, int status, String json) throws IOException {
        byte[] body = json.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
