package io.carillon.server.api;

import io.carillon.Health;
import io.carillon.server.http.Answer;
import io.carillon.server.http.Call;
import io.carillon.server.http.Doc;
import io.carillon.server.http.Fields;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Route;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.function.Supplier;

/** Health, version, meters and the description of the interface. */
final class SystemRoutes {
    static final String DESCRIPTION = "/io/carillon/server/openapi.json";

    private final House house;
    private final Supplier<String> meters;
    private final String version;
    private final byte[] description = description();

    SystemRoutes(House house, Supplier<String> meters, String version) {
        this.house = house;
        this.meters = meters;
        this.version = version;
    }

    List<Route> routes() {
        return List.of(
                Route.get("/healthz", Permission.PUBLIC, call -> Answer.ok(new Doc().put("status", "ok"))),
                Route.get("/readyz", Permission.PUBLIC, this::ready),
                Route.get("/version", Permission.PUBLIC, call -> Answer.ok(new Doc().put("version", version))),
                Route.get("/metrics", Permission.READ, this::metrics),
                Route.get("/v1/openapi.json", Permission.PUBLIC, call -> Answer.json(200, description)),
                Route.get("/v1/health", Permission.READ, this::health));
    }

    /** Whether the database answers; why not is in the log, and for those who look after the house at /v1/health. */
    private Answer ready(Call call) {
        boolean ready = house.transactions().reachable();
        Answer answer = Answer.json(ready ? 200 : 503, new Doc().put("status", ready ? "ready" : "database away"));
        return ready ? answer : answer.header("Retry-After", "2");
    }

    private Answer metrics(Call call) {
        call.caller().mustKeepHouse();
        return Answer.text("text/plain; version=0.0.4; charset=utf-8", meters.get());
    }

    private Answer health(Call call) {
        call.caller().mustKeepHouse();
        Health health = house.carillon().health();
        return Answer.ok(new Doc()
                .put("healthy", health.healthy())
                .put("issues", health.issues())
                .put(
                        "kinds",
                        health.kinds().stream().sorted().map(Fields::wordOf).toList()));
    }

    private static byte[] description() {
        try (InputStream in = SystemRoutes.class.getResourceAsStream(DESCRIPTION)) {
            if (in == null) throw new IllegalStateException(DESCRIPTION + " is missing: the jar is incomplete");
            return in.readAllBytes();
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        }
    }
}
