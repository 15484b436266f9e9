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

/** A receiver of webhooks that keeps what it got and answers as told. */
public final class Receiver implements AutoCloseable {
    /** What came in; header names in small letters. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Got(String method, String path, Map<String, String> headers, byte[] bytes) {
        public String body() {
            return new String(bytes, UTF_8);
        }

        public String header(String name) {
            return headers.getOrDefault(name, "");
        }
    }

    /** Answers one request. */
    @FunctionalInterface
    public interface Script {
        void answer(HttpExchange exchange) throws IOException;
    }

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<Got> got = new CopyOnWriteArrayList<>();
    private volatile Script script = status(200);

    public Receiver() throws IOException {
        this(InetAddress.getLoopbackAddress(), 0);
    }

    public Receiver(InetAddress address, int port) throws IOException {
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
            got.add(new Got(
                    exchange.getRequestMethod(),
                    exchange.getRequestURI().toString(),
                    headers,
                    exchange.getRequestBody().readAllBytes()));
            script.answer(exchange);
        }
    }

    /** Answers with a status, headers (name, value, …) and no body. */
    public static Script status(int status, String... headers) {
        return answer(status, "", headers);
    }

    public static Script answer(int status, String body, String... headers) {
        return exchange -> {
            for (int i = 0; i < headers.length; i += 2)
                exchange.getResponseHeaders().add(headers[i], headers[i + 1]);
            byte[] bytes = body.getBytes(UTF_8);
            exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
            if (bytes.length > 0) exchange.getResponseBody().write(bytes);
        };
    }

    public Receiver answering(Script next) {
        script = next;
        return this;
    }

    public List<Got> got() {
        return got;
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
