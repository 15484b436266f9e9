package io.carillon.bench.http;

import io.carillon.bench.measure.MeasureException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

/** Sends JSON requests with an API key to a server on the loopback address. */
public final class JsonCalls {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final int port;
    private final String key;

    public JsonCalls(int port, String key) {
        this.port = port;
        this.key = key;
    }

    /** A response. */
    public record Reply(int status, String text) {
        /** Returns this reply; throws if it has another status. */
        public Reply require(int wanted) {
            if (status != wanted)
                throw new MeasureException("The server answered %d instead of %d: %s".formatted(status, wanted, text));
            return this;
        }
    }

    public Reply get(String path) {
        return send("GET", path, HttpRequest.BodyPublishers.noBody());
    }

    public Reply post(String path, String json) {
        return send("POST", path, HttpRequest.BodyPublishers.ofString(json));
    }

    public Reply put(String path, String json) {
        return send("PUT", path, HttpRequest.BodyPublishers.ofString(json));
    }

    private Reply send(String method, String path, HttpRequest.BodyPublisher body) {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .timeout(TIMEOUT)
                .header("Authorization", "Bearer " + key)
                .header("Content-Type", "application/json")
                .method(method, body)
                .build();
        try {
            HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
            return new Reply(response.statusCode(), response.body());
        } catch (IOException failure) {
            throw new MeasureException("%s %s got no response: %s".formatted(method, path, failure), failure);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new MeasureException("The measurement was interrupted.", interrupted);
        }
    }
}
