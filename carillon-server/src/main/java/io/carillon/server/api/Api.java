package io.carillon.server.api;

import io.carillon.server.access.LeakedKeys;
import io.carillon.server.access.NewKeyLimits;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Route;
import io.carillon.server.stream.StreamPermits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The routes of the server, except those of events. To add a group of routes, write a class like the others here and
 * add a line below.
 */
public final class Api {
    private Api() {}

    /**
     * The data of the system routes, the quotas of projects, the limit of streams, and the longest lifetime of new
     * keys.
     */
    public record Settings(
            Supplier<String> meters,
            String version,
            QuotaCheck quotaCheck,
            StreamPermits streamPermits,
            Optional<Duration> maxKeyLifetime) {}

    /** Returns the routes of a server. */
    public static List<Route> routes(ServerContext context, Settings settings, BulkWorker bulk, LeakedKeys leakedKeys) {
        RequestExecutor executor = new RequestExecutor(context);
        QuotaCheck quotaCheck = settings.quotaCheck();
        NewKeyLimits keyLimits = new NewKeyLimits(settings.maxKeyLifetime());
        List<Route> all = new ArrayList<>();
        all.addAll(new SystemRoutes(context, settings.meters(), settings.version()).routes());
        all.addAll(new ScheduleRoutes(executor, quotaCheck).routes());
        all.addAll(new TimelineRoutes(executor).routes());
        all.addAll(new RunRoutes(executor, quotaCheck).routes());
        all.addAll(new QueueRoutes(executor).routes());
        all.addAll(new StatsRoutes(executor).routes());
        all.addAll(new BulkRoutes(executor, bulk, quotaCheck).routes());
        all.addAll(new KeyRoutes(executor, keyLimits, leakedKeys).routes());
        all.addAll(new ProjectRoutes(executor, keyLimits).routes());
        all.addAll(new StreamRoutes(executor, quotaCheck, settings.streamPermits()).routes());
        all.addAll(new EndpointRoutes(executor, quotaCheck).routes());
        all.addAll(new WebhookRoutes(executor).routes());
        return all;
    }

    /**
     * Returns the routes of a dashboard in an application: its own schedules, runs and queues, and the health and nodes
     * of the database. There are no routes for keys, projects, endpoints and webhooks, which belong to a server.
     */
    public static List<Route> applicationRoutes(ServerContext context, QuotaCheck quotaCheck, BulkWorker bulk) {
        RequestExecutor executor = new RequestExecutor(context);
        List<Route> all = new ArrayList<>();
        all.add(Route.get("/v1/session", Permission.READ, Api::session));
        all.add(Route.get("/v1/health", Permission.READ, request -> SystemRoutes.health(context.carillon())));
        all.add(Route.get("/v1/nodes", Permission.READ, request -> ProjectRoutes.nodes(context.carillon())));
        all.add(KeyRoutes.audit(executor, Permission.MANAGE));
        all.addAll(new ScheduleRoutes(executor, quotaCheck).routes());
        all.addAll(new TimelineRoutes(executor).routes());
        all.addAll(new RunRoutes(executor, quotaCheck).routes());
        all.addAll(new QueueRoutes(executor).routes());
        all.addAll(new StatsRoutes(executor).routes());
        all.addAll(new BulkRoutes(executor, bulk, quotaCheck).routes());
        all.addAll(new StreamRoutes(executor, quotaCheck, new StreamPermits()).routes());
        return all;
    }

    private static ApiResponse session(ApiRequest request) {
        return ApiResponse.ok(new JsonObject()
                .put("project", request.caller().project())
                .put("actor", request.caller().actor())
                .put("scopes", request.caller().scopes().stream().sorted().toList()));
    }
}
