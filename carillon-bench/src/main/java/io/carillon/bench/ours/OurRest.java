package io.carillon.bench.ours;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.http.HttpLoad;
import io.carillon.bench.measure.MeasureException;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.server.CarillonServer;
import io.carillon.server.store.HouseRepository;
import java.util.Collections;
import java.util.Map;

/** The server as {@code carillon serve} starts it: a node and REST on pools of their own. Only the limit of requests a second is lifted. */
public final class OurRest implements AutoCloseable {
    /** As shipped. */
    public static final int REQUEST_POOL = 20;

    // Due in an hour: what is measured is how runs come in, not how they are executed.
    private static final String ONE =
            "{\"target\":{\"handler\":\"%s\"},\"after\":\"1h\",\"payload\":{\"number\":1,\"text\":\"%s\"}}"
                    .formatted(Job.TYPE.name(), Job.TEXT);

    private final HikariDataSource engine;
    private final HikariDataSource requests;
    private final Carillon carillon;
    private final CarillonServer server;
    private final String key;

    public OurRest(BenchDatabase database) {
        engine = database.pool(OurDrain.POOL);
        requests = database.pool(REQUEST_POOL);
        carillon = Carillon.on(engine).start();
        server = CarillonServer.on(carillon, requests)
                .listen("127.0.0.1", 0)
                .quota(new HouseRepository.Quota(1e9, null, null))
                .start();
        key = server.bootstrapKey()
                .orElseThrow(() -> new MeasureException("A fresh database has a key already: it is not fresh."));
    }

    /** One run in each request. */
    public HttpLoad single() {
        return new HttpLoad(server.port(), HttpLoad.post("/v1/runs", authorized(), ONE));
    }

    /** So many runs in each request. */
    public HttpLoad batch(int runs) {
        String items = String.join(
                ",", Collections.nCopies(runs, "{\"payload\":{\"number\":1,\"text\":\"%s\"}}".formatted(Job.TEXT)));
        String body =
                "{\"target\":{\"handler\":\"%s\"},\"after\":\"1h\",\"runs\":[%s]}".formatted(Job.TYPE.name(), items);
        return new HttpLoad(server.port(), HttpLoad.post("/v1/runs:batch", authorized(), body));
    }

    /** The same bytes as {@link #single} sends, to somebody else. */
    public static HttpLoad sameTo(int port) {
        String key = "crl_" + "x".repeat(60);
        return new HttpLoad(port, HttpLoad.post("/v1/runs", Map.of("Authorization", "Bearer " + key), ONE));
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
