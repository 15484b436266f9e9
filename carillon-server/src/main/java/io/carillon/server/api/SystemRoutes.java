package io.carillon.server.api;

import io.carillon.Carillon;
import io.carillon.Health;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Route;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/** Health, version, metrics and the API description. */
final class SystemRoutes {
    static final String OPENAPI_RESOURCE = "/io/carillon/server/openapi.json";

    private static final int MAX_CONCURRENT_CHECKS = 4;
    private static final long MAX_CHECK_AGE_NANOS = Duration.ofSeconds(5).toNanos();

    private final Semaphore checkPermits = new Semaphore(MAX_CONCURRENT_CHECKS);
    /** When a check last reached the database. */
    private volatile long reachedNanos = System.nanoTime() - MAX_CHECK_AGE_NANOS;

    private final ServerContext context;
    private final Supplier<String> meters;
    private final String version;
    private final byte[] openApi = readOpenApi();

    SystemRoutes(ServerContext context, Supplier<String> meters, String version) {
        this.context = context;
        this.meters = meters;
        this.version = version;
    }

    List<Route> routes() {
        return List.of(
                Route.get(
                        "/healthz", Permission.PUBLIC, request -> ApiResponse.ok(new JsonObject().put("status", "ok"))),
                Route.get("/readyz", Permission.PUBLIC, this::ready),
                Route.get(
                        "/version",
                        Permission.PUBLIC,
                        request -> ApiResponse.ok(new JsonObject().put("version", version))),
                Route.get("/metrics", Permission.READ, this::metrics),
                Route.get("/v1/openapi.json", Permission.PUBLIC, request -> ApiResponse.json(200, openApi)),
                Route.get("/v1/health", Permission.ADMIN, this::health));
    }

    /**
     * Returns whether the database responds. The log and, for server admins, /v1/health give the cause if it does not.
     */
    private ApiResponse ready(ApiRequest request) {
        boolean ready = isDatabaseReachable();
        ApiResponse response =
                ApiResponse.json(ready ? 200 : 503, new JsonObject().put("status", ready ? "ready" : "database away"));
        return ready ? response : response.withHeader("Retry-After", "2");
    }

    /** Uses a recent result while enough checks are in progress: a database that hangs holds few threads. */
    private boolean isDatabaseReachable() {
        if (!checkPermits.tryAcquire()) return System.nanoTime() - reachedNanos < MAX_CHECK_AGE_NANOS;
        try {
            boolean reachable = context.transactions().isReachable();
            if (reachable) reachedNanos = System.nanoTime();
            return reachable;
        } finally {
            checkPermits.release();
        }
    }

    private ApiResponse metrics(ApiRequest request) {
        request.caller().requireServerAdmin();
        return ApiResponse.text("text/plain; version=0.0.4; charset=utf-8", meters.get());
    }

    private ApiResponse health(ApiRequest request) {
        request.caller().requireServerAdmin();
        return health(context.carillon());
    }

    /** Returns the health of all projects. */
    static ApiResponse health(Carillon carillon) {
        Health health = carillon.health();
        return ApiResponse.ok(new JsonObject()
                .put("healthy", health.healthy())
                .put("issues", health.issues().stream().map(Health.Issue::text).toList())
                .put(
                        "kinds",
                        health.kinds().stream()
                                .sorted()
                                .map(JsonFields::enumText)
                                .toList()));
    }

    private static byte[] readOpenApi() {
        try (InputStream in = SystemRoutes.class.getResourceAsStream(OPENAPI_RESOURCE)) {
            if (in == null) throw new IllegalStateException(OPENAPI_RESOURCE + " is missing: the jar is incomplete");
            return in.readAllBytes();
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        }
    }
}
