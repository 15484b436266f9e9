package io.carillon.webhook;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A receiver of webhooks that stores requests and sends configured responses. */
public final class TestReceiver implements AutoCloseable {
    /** A received request; header names are in lower case. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record ReceivedRequest(String method, String path, Map<String, String> headers, byte[] bytes) {
        public String body() {
            return new String(bytes, UTF_8);
        }

        public String header(String name) {
            return headers.getOrDefault(name, "");
        }
    }

    /** Responds to one request. */
    @FunctionalInterface
    public interface ScriptedResponse {
        void send(HttpExchange exchange) throws IOException;
    }

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<ReceivedRequest> requests = new CopyOnWriteArrayList<>();
    private volatile ScriptedResponse response = status(200);

    public TestReceiver() throws IOException {
        this(InetAddress.getLoopbackAddress(), 0);
    }

    public TestReceiver(InetAddress address, int port) throws IOException {
        server = HttpServer.create(new InetSocketAddress(address, port), 100);
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            Map<String, String> headers = new TreeMap<>();
            exchange.getRequestHeaders()
                    .forEach((name, values) ->
                            headers.put(name.toLowerCase(java.util.Locale.ROOT), String.join("|", values)));
            requests.add(new ReceivedRequest(
                    exchange.getRequestMethod(),
                    exchange.getRequestURI().toString(),
                    headers,
                    exchange.getRequestBody().readAllBytes()));
            response.send(exchange);
        }
    }

    /** Returns a responder with a status, headers (name, value, …) and no body. */
    public static ScriptedResponse status(int status, String... headers) {
        return response(status, "", headers);
    }

    public static ScriptedResponse response(int status, String body, String... headers) {
        return exchange -> {
            for (int i = 0; i < headers.length; i += 2)
                exchange.getResponseHeaders().add(headers[i], headers[i + 1]);
            byte[] bytes = body.getBytes(UTF_8);
            exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
            if (bytes.length > 0) exchange.getResponseBody().write(bytes);
        };
    }

    public TestReceiver respondWith(ScriptedResponse next) {
        response = next;
        return this;
    }

    public List<ReceivedRequest> requests() {
        return requests;
    }

    public int port() {
        return server.getAddress().getPort();
    }

    public String url() {
        return "http://" + server.getAddress().getAddress().getHostAddress() + ":" + port() + "/hook";
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
