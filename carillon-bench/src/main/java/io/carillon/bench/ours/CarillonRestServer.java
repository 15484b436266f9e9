package io.carillon.bench.ours;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.http.HttpLoadGenerator;
import io.carillon.bench.measure.MeasureException;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.server.CarillonServer;
import io.carillon.server.store.ProjectRepository;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Collections;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The server as {@code carillon serve} starts it: a node and the REST API with separate pools. Only the request rate
 * limit is removed.
 */
public final class CarillonRestServer implements AutoCloseable {
    /** The default size of the request pool. */
    public static final int REQUEST_POOL = 20;

    // The runs are due in an hour: the benchmark measures the enqueue, not the execution.
    private static final String SINGLE_BODY =
            "{\"target\":{\"handler\":\"%s\"},\"after\":\"1h\",\"payload\":{\"number\":1,\"text\":\"%s\"}}"
                    .formatted(BenchPayload.TYPE.name(), BenchPayload.TEXT);

    private static final String SCHEDULE =
            "{\"name\":\"rest-%d\",\"when\":{\"every\":{\"amount\":1,\"unit\":\"hours\"}},"
                    + "\"target\":{\"handler\":\"" + BenchPayload.TYPE.name() + "\"},"
                    + "\"payload\":{\"number\":1,\"text\":\"" + BenchPayload.TEXT + "\"}}";

    private final HttpClient client = HttpClient.newHttpClient();
    private final HikariDataSource engine;
    private final HikariDataSource requests;
    private final Carillon carillon;
    private final CarillonServer server;
    private final String key;

    public CarillonRestServer(BenchDatabase database) {
        engine = database.pool(CarillonDrain.POOL);
        requests = database.pool(REQUEST_POOL);
        carillon = Carillon.on(engine).start();
        server = CarillonServer.on(carillon, requests)
                .listen("127.0.0.1", 0)
                .quota(new ProjectRepository.Quota(1e9, null, null, null, null, null, null))
                .start();
        key = server.bootstrapKey().orElseThrow(() -> new MeasureException("The new database already has an API key."));
    }

    /** Returns a generator with one run per request. */
    public HttpLoadGenerator single() {
        return new HttpLoadGenerator(server.port(), HttpLoadGenerator.post("/v1/runs", authorized(), SINGLE_BODY));
    }

    /** Returns a generator with several runs per request. */
    public HttpLoadGenerator batch(int runs) {
        String items = String.join(
                ",",
                Collections.nCopies(runs, "{\"payload\":{\"number\":1,\"text\":\"%s\"}}".formatted(BenchPayload.TEXT)));
        String body = "{\"target\":{\"handler\":\"%s\"},\"after\":\"1h\",\"runs\":[%s]}"
                .formatted(BenchPayload.TYPE.name(), items);
        return new HttpLoadGenerator(server.port(), HttpLoadGenerator.post("/v1/runs:batch", authorized(), body));
    }

    /** Creates schedules with these numbers, with one request. */
    public void putSchedules(IntStream numbers) throws IOException, InterruptedException {
        String schedules = numbers.mapToObj(SCHEDULE::formatted).collect(Collectors.joining(","));
        HttpRequest request = HttpRequest.newBuilder(URI.create(url() + "/v1/schedules:batch"))
                .header("Authorization", "Bearer " + key)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{\"schedules\":[" + schedules + "]}"))
                .build();
        HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 200 || response.body().contains("\"error\""))
            throw new MeasureException("The server did not create all schedules: " + response.body());
    }

    /** Returns a generator that sends the request of {@link #single} to another server. */
    public static HttpLoadGenerator singleTo(int port) {
        String key = "crl_" + "x".repeat(60);
        return new HttpLoadGenerator(
                port, HttpLoadGenerator.post("/v1/runs", Map.of("Authorization", "Bearer " + key), SINGLE_BODY));
    }

    /** Returns the port of the server. */
    public int port() {
        return server.port();
    }

    /** Returns the address of the server. */
    public String url() {
        return "http://127.0.0.1:" + server.port();
    }

    /** Returns an API key with all permissions. */
    public String key() {
        return key;
    }

    private Map<String, String> authorized() {
        return Map.of("Authorization", "Bearer " + key);
    }

    @Override
    public void close() {
        server.close();
        carillon.close();
        requests.close();
        engine.close();
    }
}
