package io.carillon.server.api;

import io.carillon.PauseOptions;
import io.carillon.QueueInfo;
import io.carillon.QueueLimits;
import io.carillon.Queues;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import java.util.List;
import java.util.Optional;

/** Queues of the caller's project. */
final class QueueRoutes {
    /** The number of queues that {@link Queues#list} returns at most. */
    static final int MAX_QUEUES = 1_000;

    private final RequestExecutor executor;

    QueueRoutes(RequestExecutor executor) {
        this.executor = executor;
    }

    List<Route> routes() {
        return List.of(
                Route.get("/v1/queues", Permission.READ, this::list),
                Route.get("/v1/queues/{name}", Permission.READ, this::get),
                Route.put("/v1/queues/{name}/limits", Permission.MANAGE, this::updateLimits),
                Route.put("/v1/queues/{name}/weight", Permission.MANAGE, this::updateWeight),
                Route.put("/v1/queues/{name}/breaker", Permission.MANAGE, this::updateBreaker),
                Route.post("/v1/queues/{name}/pause", Permission.MANAGE, this::pause),
                Route.post("/v1/queues/{name}/resume", Permission.MANAGE, this::resume));
    }

    private ApiResponse list(ApiRequest request) {
        List<QueueInfo> queues = executor.read(
                request, transaction -> transaction.project().queues().list());
        return ApiResponse.ok(new JsonObject()
                .put(
                        "items",
                        queues.stream()
                                .filter(queue -> isVisible(request, queue.name()))
                                .map(JsonResponses::queue)
                                .toList())
                .put("more", queues.size() >= MAX_QUEUES));
    }

    private ApiResponse get(ApiRequest request) {
        return ApiResponse.ok(
                JsonResponses.queue(executor.read(request, transaction -> requireQueue(transaction, request))));
    }

    /** A key that is restricted to handlers sees no queue, because a queue may have runs of other handlers. */
    private static boolean isVisible(ApiRequest request, String queue) {
        return request.caller().limits().allows(queue, null);
    }

    /** Returns the name of the queue of the path. To a restricted key, other queues do not exist. */
    private static String visibleName(ApiRequest request) {
        String name = request.pathValue("name");
        if (!isVisible(request, name)) throw Problem.notFound("queue");
        return name;
    }

    private static QueueInfo requireQueue(RequestExecutor.RequestTransaction transaction, ApiRequest request) {
        visibleName(request);
        String name = request.pathName("name");
        return transaction.project().queues().get(name).orElseThrow(() -> Problem.notFound("queue"));
    }

    private ApiResponse updateLimits(ApiRequest request) {
        JsonFields body = request.fields();
        Optional<Integer> running = body.integer("maxRunning");
        Optional<Double> rate = body.decimal("perSecond");
        body.refuseUnknown();
        QueueLimits queueLimits =
                body.convert("maxRunning", () -> new QueueLimits(running.orElse(null), rate.orElse(null)));
        return executor.change(request, "queue.limit", "queue/" + visibleName(request), transaction -> {
            transaction.project().queues().limit(request.pathValue("name"), queueLimits);
            QuotaCheck.checkQueueSettings(transaction);
            transaction.addAuditDetail(
                    "limits",
                    "maxRunning=%s, perSecond=%s".formatted(queueLimits.maxRunning(), queueLimits.perSecond()));
            return ApiResponse.ok(JsonResponses.queue(requireQueue(transaction, request)));
        });
    }

    private ApiResponse updateWeight(ApiRequest request) {
        JsonFields body = request.fields();
        int weight = body.required("weight", body.integer("weight"));
        body.refuseUnknown();
        return executor.change(request, "queue.weight", "queue/" + visibleName(request), transaction -> {
            Queues queues = transaction.project().queues();
            body.convert("weight", () -> {
                queues.weight(request.pathValue("name"), weight);
                return weight;
            });
            QuotaCheck.checkQueueSettings(transaction);
            transaction.addAuditDetail("weight", Integer.toString(weight));
            return ApiResponse.ok(JsonResponses.queue(requireQueue(transaction, request)));
        });
    }

    private ApiResponse updateBreaker(ApiRequest request) {
        JsonFields body = request.fields();
        boolean enabled = body.required("enabled", body.flag("enabled"));
        body.refuseUnknown();
        return executor.change(request, "queue.breaker", "queue/" + visibleName(request), transaction -> {
            transaction.project().queues().breaker(request.pathValue("name"), enabled);
            QuotaCheck.checkQueueSettings(transaction);
            transaction.addAuditDetail("enabled", Boolean.toString(enabled));
            return ApiResponse.ok(JsonResponses.queue(requireQueue(transaction, request)));
        });
    }

    private ApiResponse pause(ApiRequest request) {
        JsonFields body = request.optionalFields();
        Optional<String> reason = body.text("reason");
        body.refuseUnknown();
        return executor.change(request, "queue.pause", "queue/" + visibleName(request), transaction -> {
            PauseOptions options =
                    PauseOptions.untilResumed().by(request.caller().actor());
            transaction
                    .project()
                    .queues()
                    .pause(
                            request.pathValue("name"),
                            reason.map(options::reason).orElse(options));
            QuotaCheck.checkQueueSettings(transaction);
            return ApiResponse.ok(JsonResponses.queue(requireQueue(transaction, request)));
        });
    }

    private ApiResponse resume(ApiRequest request) {
        request.optionalFields().refuseUnknown();
        return executor.change(request, "queue.resume", "queue/" + visibleName(request), transaction -> {
            requireQueue(transaction, request);
            transaction.project().queues().resume(request.pathValue("name"));
            return ApiResponse.ok(JsonResponses.queue(requireQueue(transaction, request)));
        });
    }
}
