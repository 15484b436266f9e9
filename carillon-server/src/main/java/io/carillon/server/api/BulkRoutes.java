package io.carillon.server.api;

import io.carillon.BulkActions;
import io.carillon.CarillonException;
import io.carillon.internal.value.PublicId;
import io.carillon.run.RunFilter;
import io.carillon.run.RunState;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import io.carillon.server.store.BulkRepository;
import io.carillon.server.store.BulkRepository.BulkActionRecord;
import io.carillon.server.store.BulkRepository.BulkActionRequest;
import io.carillon.server.store.BulkRepository.State;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Counts, starts, shows and aborts bulk actions. The {@link BulkWorker} executes them. */
final class BulkRoutes {
    /** The largest number of runs that a dry run reads, so that it ends before the limit of a statement. */
    private static final long MAX_COUNT_READS = 50_000;

    private final RequestExecutor executor;
    private final BulkRepository actions;
    private final BulkWorker worker;
    private final QuotaCheck quotaCheck;

    BulkRoutes(RequestExecutor executor, BulkWorker worker, QuotaCheck quotaCheck) {
        this.executor = executor;
        this.quotaCheck = quotaCheck;
        this.actions = executor.context().repositories().bulk();
        this.worker = worker;
    }

    List<Route> routes() {
        return List.of(
                Route.get("/v1/bulk-actions", Permission.READ, this::list).withQuery("limit", "cursor"),
                Route.post("/v1/bulk-actions", Permission.MANAGE, this::start),
                Route.get("/v1/bulk-actions/{id}", Permission.READ, this::get),
                Route.post("/v1/bulk-actions/{id}/abort", Permission.MANAGE, this::abort));
    }

    /** The actions. */
    private enum BulkActionKind {
        CANCEL,
        REDRIVE,
        DELETE,
        RESCHEDULE
    }

    private ApiResponse start(ApiRequest request) {
        JsonFields body = request.fields();
        BulkActionKind kind = body.required("action", body.enumValue("action", BulkActionKind.class));
        RunFilter filter = filter(body.required("filter", body.object("filter")));
        Optional<Instant> at = body.instant("at");
        boolean dry = body.flag("dryRun").orElse(false);
        body.refuseUnknown();
        request.caller().limits().require(filter.queue(), filter.handler());
        if (at.isPresent() != (kind == BulkActionKind.RESCHEDULE))
            throw Problem.invalid("/at", "This is required for the action reschedule and not allowed for others.");
        BulkActionRequest bulkActionRequest = new BulkActionRequest(
                JsonFields.enumText(kind),
                filter,
                at.orElse(null),
                request.caller().actor(),
                request.requestId());
        if (dry)
            return ApiResponse.ok(countToJson(executor.read(
                    request,
                    transaction ->
                            bulkActions(transaction, body, bulkActionRequest).countFirst(MAX_COUNT_READS))));
        ApiResponse response =
                executor.change(request, "bulk." + bulkActionRequest.action(), "runs/" + state(filter), transaction -> {
                    BulkActions.Cursor cursor =
                            bulkActions(transaction, body, bulkActionRequest).begin();
                    quotaCheck.checkBulkActions(transaction);
                    UUID id = actions.insert(
                            transaction.session(), transaction.project().name(), bulkActionRequest, cursor);
                    transaction.addAuditDetail("bulk", PublicId.format(BulkWorker.PREFIX, id));
                    transaction.addAuditDetail("filter", filter.toString());
                    return ApiResponse.json(202, toJson(requireAction(transaction, request, id)))
                            .withLocation("/v1/bulk-actions/" + PublicId.format(BulkWorker.PREFIX, id));
                });
        worker.wake();
        return response;
    }

    private static RunFilter filter(JsonFields fields) {
        RunFilter byState = RunFilter.all().state(fields.required("state", fields.enumValue("state", RunState.class)));
        Optional<String> queue = fields.text("queue");
        Optional<String> handler = fields.text("handler");
        fields.refuseUnknown();
        RunFilter byQueue = queue.isEmpty() ? byState : fields.convert("queue", () -> byState.queue(queue.get()));
        return handler.isEmpty() ? byQueue : fields.convert("handler", () -> byQueue.handler(handler.get()));
    }

    private static String state(RunFilter filter) {
        RunState state = filter.state();
        return state == null ? "" : state.text();
    }

    /** Returns the bulk actions for the filter, after it has checked that they are allowed for its state. */
    private static BulkActions bulkActions(
            RequestExecutor.RequestTransaction transaction, JsonFields body, BulkActionRequest bulkActionRequest) {
        return body.convert(
                "filter",
                () -> transaction
                        .project()
                        .runs()
                        .bulk(bulkActionRequest.filter())
                        .requireAllowed(bulkActionRequest.operation()));
    }

    private static JsonObject countToJson(BulkActions.Count count) {
        return new JsonObject()
                .put("matching", count.matching())
                .put("more", !count.complete())
                .put("dryRun", true);
    }

    /** A value that is not a valid id is answered with 404. */
    private static UUID id(ApiRequest request) {
        try {
            return PublicId.parse(BulkWorker.PREFIX, request.pathValue("id"));
        } catch (CarillonException malformed) {
            throw Problem.notFound("bulk action");
        }
    }

    private BulkActionRecord requireAction(RequestExecutor.RequestTransaction transaction, ApiRequest request, UUID id)
            throws SQLException {
        return actions.get(transaction.session(), transaction.project().name(), id)
                .filter(action -> isVisible(request, action))
                .orElseThrow(() -> Problem.notFound("bulk action"));
    }

    /** To a restricted key, an action on runs of other queues or handlers does not exist. */
    private static boolean isVisible(ApiRequest request, BulkActionRecord action) {
        RunFilter filter = action.request().filter();
        return request.caller().limits().allows(filter.queue(), filter.handler());
    }

    private ApiResponse list(ApiRequest request) {
        int limit = request.limit();
        Optional<UUID> behind = executor.cursor(request).map(id -> PublicId.parse(BulkWorker.PREFIX, id));
        List<BulkActionRecord> found = executor.read(
                request,
                transaction -> actions.list(
                        transaction.session(), transaction.project().name(), behind, limit + 1));
        return executor.page(
                request,
                found,
                limit,
                action -> isVisible(request, action),
                BulkRoutes::toJson,
                bulkActionRecord -> PublicId.format(BulkWorker.PREFIX, bulkActionRecord.id()));
    }

    private ApiResponse get(ApiRequest request) {
        return ApiResponse.ok(
                toJson(executor.read(request, transaction -> requireAction(transaction, request, id(request)))));
    }

    /** Aborts a bulk action. Runs that were changed stay changed. Repeating the request has no further effect. */
    private ApiResponse abort(ApiRequest request) {
        request.optionalFields().refuseUnknown();
        UUID id = id(request);
        return executor.change(request, "bulk.abort", "bulk/" + PublicId.format(BulkWorker.PREFIX, id), transaction -> {
            requireAction(transaction, request, id);
            actions.end(
                    transaction.session(),
                    new BulkRepository.BulkActionKey(transaction.project().name(), id),
                    State.ABORTED,
                    null);
            BulkActionRecord now = requireAction(transaction, request, id);
            if (now.progress().state() != State.ABORTED)
                throw Problem.of(
                        409,
                        "bulk-ended",
                        "The bulk action has already ended (%s) and cannot be aborted."
                                .formatted(JsonFields.enumText(now.progress().state())));
            transaction.addAuditDetail("done", Long.toString(now.progress().done()));
            return ApiResponse.ok(toJson(now));
        });
    }

    private static JsonObject toJson(BulkActionRecord bulkActionRecord) {
        BulkActionRequest bulkActionRequest = bulkActionRecord.request();
        BulkRepository.Progress progress = bulkActionRecord.progress();
        return new JsonObject()
                .put("id", PublicId.format(BulkWorker.PREFIX, bulkActionRecord.id()))
                .put("action", bulkActionRequest.action())
                .put(
                        "filter",
                        new JsonObject()
                                .put("state", state(bulkActionRequest.filter()))
                                .put("queue", bulkActionRequest.filter().queue())
                                .put("handler", bulkActionRequest.filter().handler()))
                .put("at", bulkActionRequest.at())
                .put("state", JsonFields.enumText(progress.state()))
                .put("reason", progress.reason())
                .put("done", progress.done())
                .put("createdBy", bulkActionRequest.actor())
                .put("createdAt", bulkActionRecord.createdAt())
                .put("endedAt", bulkActionRecord.endedAt());
    }
}
