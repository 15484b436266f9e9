package io.carillon.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** A local receiver of webhooks. It stores requests and answers with the status in the path, such as {@code /503}. */
public final class WebhookReceiver implements AutoCloseable {
    /** A received request; header names are in lower case. */
    public record ReceivedRequest(String method, String path, Map<String, String> headers, String body) {
        public String header(String name) {
            return headers.getOrDefault(name, "");
        }
    }

    private final HttpServer server;
    private final List<ReceivedRequest> received = new CopyOnWriteArrayList<>();

    public WebhookReceiver() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
        server.createContext("/", this::handle);
        server.start();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            Map<String, String> headers = new TreeMap<>();
            exchange.getRequestHeaders()
                    .forEach((name, values) -> headers.put(name.toLowerCase(Locale.ROOT), String.join("|", values)));
            String path = exchange.getRequestURI().toString();
            String body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
            received.add(new ReceivedRequest(exchange.getRequestMethod(), path, headers, body));
            int status = path.matches("/\\d{3}(\\?.*)?") ? Integer.parseInt(path.substring(1, 4)) : 200;
            byte[] answer = (path.startsWith("/long") ? "x".repeat(10_000) : "said " + status).getBytes(UTF_8);
            exchange.getResponseHeaders().add("x-receiver", "here");
            exchange.getResponseHeaders().add("set-cookie", "session=hidden");
            exchange.sendResponseHeaders(status, answer.length);
            exchange.getResponseBody().write(answer);
        }
    }

    /** Returns the requests to this path. */
    public List<ReceivedRequest> received(String path) {
        return received.stream().filter(one -> one.path().equals(path)).toList();
    }

    public String url(String path) {
        return "http://127.0.0.1:" + server.getAddress().getPort() + path;
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
