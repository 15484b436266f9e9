package io.carillon.it.cluster;

import io.carillon.testkit.NodeProcess;
import io.carillon.testkit.TestDatabase;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Server processes on one fresh database, and an HTTP client for all of them. */
final class Servers implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    final TestDatabase database = TestDatabase.migrated();
    private final HttpClient client = HttpClient.newHttpClient();
    private final List<ServerHandle> all = new ArrayList<>();
    private String key = "";

    record ServerHandle(NodeProcess process, int port) {}

    /** The answer of a server; status 0 if the server died before it answered. */
    record ServerReply(int status, String body, Optional<String> retryAfter, boolean replayed) {}

    Servers(int size) {
        List<NodeProcess> processes = new ArrayList<>();
        for (int i = 0; i < size; i++) processes.add(process());
        processes.forEach(this::await);
    }

    private NodeProcess process() {
        return NodeProcess.start(
                List.of("-Xmx128m"), ServerNode.class, database.jdbcUrl(), database.user(), database.password());
    }

    private ServerHandle await(NodeProcess process) {
        String[] ready = process.awaitLine("ready", TIMEOUT).split(" ", -1);
        if (!ready[2].equals("-")) key = ready[2];
        ServerHandle serverHandle = new ServerHandle(process, Integer.parseInt(ready[1]));
        all.add(serverHandle);
        return serverHandle;
    }

    /** Starts one more server. */
    ServerHandle start() {
        return await(process());
    }

    ServerHandle get(int which) {
        return all.get(which);
    }

    int size() {
        return all.size();
    }

    ServerReply send(ServerHandle to, String method, String path, String body, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + to.port() + path))
                .timeout(TIMEOUT)
                .header("Authorization", "Bearer " + key)
                .method(
                        method,
                        body.isEmpty()
                                ? HttpRequest.BodyPublishers.noBody()
                                : HttpRequest.BodyPublishers.ofString(body));
        if (!body.isEmpty()) request.header("Content-Type", "application/json");
        for (int i = 0; i < headers.length; i += 2) request.header(headers[i], headers[i + 1]);
        try {
            HttpResponse<String> response = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
            return new ServerReply(
                    response.statusCode(),
                    response.body(),
                    response.headers().firstValue("Retry-After"),
                    response.headers().firstValue("Idempotency-Replayed").isPresent());
        } catch (IOException died) {
            return new ServerReply(0, "", Optional.empty(), false);
        } catch (InterruptedException stopped) {
            throw new AssertionError(stopped);
        }
    }

    @Override
    public void close() {
        all.forEach(serverHandle -> serverHandle.process().close());
        database.close();
    }
}
