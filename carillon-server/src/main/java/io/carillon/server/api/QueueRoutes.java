package io.carillon.server.api;

import io.carillon.PauseOptions;
import io.carillon.QueueInfo;
import io.carillon.QueueLimits;
import io.carillon.Queues;
import io.carillon.run.RunFilter;
import io.carillon.run.RunState;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import java.util.List;
import java.util.Optional;

/** Queues of the caller's project, and counts of its runs. */
final class QueueRoutes {
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
                Route.post("/v1/queues/{name}/pause", Permission.MANAGE, this::pause),
                Route.post("/v1/queues/{name}/resume", Permission.MANAGE, this::resume),
                Route.get("/v1/stats", Permission.READ, this::stats));
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
                                .toList()));
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
        return transaction.project().queues().list().stream()
                .filter(queue -> queue.name().equals(name))
                .findFirst()
                .orElseThrow(() -> Problem.notFound("queue"));
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
            transaction.addAuditDetail("weight", Integer.toString(weight));
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

    /** Counts waiting, running, dead and quarantined runs. The history is not counted. */
    private ApiResponse stats(ApiRequest request) {
        return executor.read(request, transaction -> {
            List<QueueInfo> queues = transaction.project().queues().list();
            return ApiResponse.ok(new JsonObject()
                    .put(
                            "waiting",
                            queues.stream().mapToLong(QueueInfo::waiting).sum())
                    .put(
                            "running",
                            queues.stream().mapToLong(QueueInfo::running).sum())
                    .put(
                            "dead",
                            transaction
                                    .project()
                                    .runs()
                                    .bulk(RunFilter.all().state(RunState.DEAD))
                                    .count())
                    .put(
                            "quarantined",
                            transaction
                                    .project()
                                    .runs()
                                    .bulk(RunFilter.all().state(RunState.QUARANTINED))
                                    .count())
                    .put("queues", queues.stream().map(JsonResponses::queue).toList()));
        });
    }
}
