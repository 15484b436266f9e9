package io.carillon.cli.client;

import io.carillon.cli.shell.CommandException;
import io.carillon.cli.shell.ExitCode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Sends requests to a server. Throws a {@link CommandException} that states the remedy if a request does not succeed.
 */
public final class ApiClient {
    /** Keeps numbers as they were written. */
    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .build();

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    private static final int PAGE_SIZE = 200;
    /** The maximum number of pages that are read in search of items that count. */
    private static final int MAX_PAGES = 10;

    /**
     * A successful response.
     *
     * @param date the Date header
     */
    public record Reply(int status, JsonNode body, Optional<String> date) {}

    /** The items of a list, and whether the server has more. */
    public record Items(List<JsonNode> items, boolean hasMore) {}

    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CONNECT_TIMEOUT)
            .build();
    private final ServerConnection server;
    private final Duration timeout;

    public ApiClient(ServerConnection server, Duration timeout) {
        this.server = server;
        this.timeout = timeout;
    }

    /** Returns the server that receives the requests. */
    public ServerConnection server() {
        return server;
    }

    /** Returns the path with these segments, each URL-encoded. */
    public static String path(String... names) {
        return List.of(names).stream().map(ApiClient::encoded).collect(Collectors.joining("/", "/v1/", ""));
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    public JsonNode get(String path) {
        return send("GET", path, null, Map.of()).body();
    }

    public JsonNode post(String path, JsonNode body) {
        return send("POST", path, body, Map.of()).body();
    }

    public Reply put(String path, JsonNode body, Map<String, String> headers) {
        return send("PUT", path, body, headers);
    }

    public void delete(String path) {
        send("DELETE", path, null, Map.of());
    }

    /** Returns at most {@code wanted} items of a list, read page by page. */
    public Items list(String path, Map<String, String> query, int wanted) {
        List<JsonNode> items = new ArrayList<>();
        Map<String, String> parameters = new LinkedHashMap<>(query);
        while (true) {
            parameters.put("limit", Integer.toString(Math.max(1, Math.min(PAGE_SIZE, wanted - items.size()))));
            JsonNode page = get(path + query(parameters));
            boolean full = false;
            for (JsonNode item : page.path("items")) {
                full = items.size() >= wanted;
                if (full) break;
                items.add(item);
            }
            String next = page.path("next").stringValue("");
            if (next.isEmpty() || items.size() >= wanted) return new Items(items, full || !next.isEmpty());
            parameters.put("cursor", next);
        }
    }

    /**
     * Returns whole pages of a list, until at least {@code wanted} of the items count, for a caller that orders them in
     * another way than the server. Reads at most {@value #MAX_PAGES} pages.
     */
    public Items listPages(String path, Map<String, String> query, int wanted, Predicate<JsonNode> counts) {
        List<JsonNode> items = new ArrayList<>();
        Map<String, String> parameters = new LinkedHashMap<>(query);
        parameters.put("limit", Integer.toString(PAGE_SIZE));
        for (int pages = 1; ; pages++) {
            JsonNode page = get(path + query(parameters));
            page.path("items").forEach(items::add);
            String next = page.path("next").stringValue("");
            boolean isEnough = items.stream().filter(counts).count() >= wanted;
            if (next.isEmpty() || isEnough || pages >= MAX_PAGES) return new Items(items, !next.isEmpty());
            parameters.put("cursor", next);
        }
    }

    /** Returns the query string with its question mark; empty without parameters. */
    public static String query(Map<String, String> parameters) {
        if (parameters.isEmpty()) return "";
        return parameters.entrySet().stream()
                .map(one -> one.getKey() + "=" + encoded(one.getValue()))
                .collect(Collectors.joining("&", "?", ""));
    }

    /**
     * Passes the lines of an event stream to {@code goOn} as they arrive, until it returns false or the stream ends.
     * There is no timeout.
     */
    public void streamLines(String path, Map<String, String> headers, Predicate<String> goOn) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(server.url() + path))
                .header("Accept", "text/event-stream, application/problem+json");
        headers.forEach(request::header);
        server.key().ifPresent(key -> authorize(request, key));
        HttpResponse<Stream<String>> response = exchange(request.build(), HttpResponse.BodyHandlers.ofLines());
        try (Stream<String> lines = response.body()) {
            if (response.statusCode() >= 300) {
                String text = lines.collect(Collectors.joining("\n"));
                throw ServerErrors.toFailure(server, path, response.statusCode(), response.headers(), text, json(text));
            }
            Iterator<String> each = lines.iterator();
            boolean more = true;
            while (more && each.hasNext()) more = goOn.test(each.next());
        } catch (UncheckedIOException broken) {
            throw unreachable(new IOException(broken.getMessage(), broken));
        }
    }

    /**
     * Sends a request.
     *
     * @param body null for a request without a body
     */
    public Reply send(String method, String path, @Nullable JsonNode body, Map<String, String> headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(server.url() + path))
                .timeout(timeout)
                .header("Accept", "application/json, application/problem+json")
                .method(
                        method,
                        body == null
                                ? BodyPublishers.noBody()
                                : BodyPublishers.ofString(JSON.writeValueAsString(body)));
        if (body != null) request.header("Content-Type", "application/json");
        headers.forEach(request::header);
        server.key().ifPresent(key -> authorize(request, key));
        HttpResponse<String> response = exchange(request.build(), HttpResponse.BodyHandlers.ofString());
        JsonNode answer = json(response.body());
        if (response.statusCode() >= 300)
            throw ServerErrors.toFailure(
                    server, path, response.statusCode(), response.headers(), response.body(), answer);
        return new Reply(response.statusCode(), answer, response.headers().firstValue("Date"));
    }

    /** Returns the failure that a problem describes, for a problem within a response. */
    public CommandException toFailure(JsonNode problem) {
        return ServerErrors.toFailure(server, problem.path("status").intValue(500), problem);
    }

    private static void authorize(HttpRequest.Builder request, String key) {
        try {
            request.header("Authorization", "Bearer " + key);
        } catch (IllegalArgumentException odd) {
            throw new CommandException(
                    ExitCode.REFUSED,
                    "The API key contains invalid characters. Check its source: --key-file, "
                            + "CARILLON_KEY, CARILLON_KEY_FILE or the profile.");
        }
    }

    private <T> HttpResponse<T> exchange(HttpRequest request, HttpResponse.BodyHandler<T> reading) {
        try {
            return http.send(request, reading);
        } catch (HttpConnectTimeoutException away) {
            throw unreachable(away);
        } catch (HttpTimeoutException slow) {
            throw new CommandException(
                    ExitCode.TIMEOUT,
                    "The server at %s did not answer within %d s.%s Use --timeout to wait longer."
                            .formatted(
                                    server,
                                    timeout.toSeconds(),
                                    request.method().equals("GET")
                                            ? ""
                                            : " The request may have been executed; check before you repeat it."),
                    slow);
        } catch (IOException broken) {
            throw unreachable(broken);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new CommandException(ExitCode.FAILED, "Interrupted.", stopped);
        }
    }

    private CommandException unreachable(IOException cause) {
        String why = cause.getMessage() == null ? "no connection" : cause.getMessage();
        return new CommandException(
                ExitCode.UNAVAILABLE,
                ("No server answers at %s: %s. Start one with 'carillon serve' or 'carillon dev', or choose "
                                + "another with --url, CARILLON_URL or --profile.")
                        .formatted(server, why),
                cause);
    }

    private static JsonNode json(String body) {
        try {
            return body.isBlank() ? JsonNodeFactory.instance.objectNode() : JSON.readTree(body);
        } catch (JacksonException other) {
            return JsonNodeFactory.instance.missingNode();
        }
    }
}
