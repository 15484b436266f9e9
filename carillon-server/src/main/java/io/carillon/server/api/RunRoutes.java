package io.carillon.server.api;

import io.carillon.CarillonException;
import io.carillon.run.AttemptRecord;
import io.carillon.run.CancelResult;
import io.carillon.run.Enqueue;
import io.carillon.run.EnqueueResult;
import io.carillon.run.Explanation;
import io.carillon.run.Payload;
import io.carillon.run.RedriveResult;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunQuery;
import io.carillon.run.RunState;
import io.carillon.server.endpoint.WebhookTargetJson;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Routes to enqueue, read, explain, cancel, redrive and reschedule runs. */
final class RunRoutes {
    private static final int MAX_BATCH = 1_000;

    private final RequestExecutor executor;
    private final QuotaCheck quotaCheck;

    RunRoutes(RequestExecutor executor, QuotaCheck quotaCheck) {
        this.executor = executor;
        this.quotaCheck = quotaCheck;
    }

    List<Route> routes() {
        return List.of(
                Route.get("/v1/runs", Permission.READ, this::list)
                        .withQuery("limit", "cursor", "queue", "handler", "state", "schedule"),
                Route.post("/v1/runs", Permission.ENQUEUE, this::enqueue),
                Route.post("/v1/runs:batch", Permission.ENQUEUE, this::enqueueMany),
                Route.get("/v1/runs/{id}", Permission.READ, this::get),
                Route.get("/v1/runs/{id}/attempts", Permission.READ, this::attempts),
                Route.get("/v1/runs/{id}/explain", Permission.READ, this::explain),
                Route.post("/v1/runs/{id}/cancel", Permission.MANAGE, this::cancel),
                Route.post("/v1/runs/{id}/redrive", Permission.MANAGE, this::redrive),
                Route.post("/v1/runs/{id}/reschedule", Permission.MANAGE, this::reschedule));
    }

    /** Returns the run id of the path. A value that is not a valid id is answered with 404. */
    static RunId id(ApiRequest request) {
        try {
            return RunId.parse(request.pathValue("id"));
        } catch (CarillonException malformed) {
            throw Problem.notFound("run");
        }
    }

    /** Returns the run of the path. To a restricted key, a run of another queue or handler does not exist. */
    static Run requireRun(RequestExecutor.RequestTransaction transaction, ApiRequest request) {
        return transaction
                .project()
                .runs()
                .get(id(request))
                .filter(run -> isVisible(request, run))
                .orElseThrow(() -> Problem.notFound("run"));
    }

    private static boolean isVisible(ApiRequest request, Run run) {
        return request.caller().limits().allows(run.queue(), run.target().name());
    }

    private ApiResponse list(ApiRequest request) {
        int limit = request.limit();
        RunFilter filter = filter(request).limit(limit + 1);
        Optional<String> behind = executor.cursor(request);
        List<Run> found = executor.read(request, transaction -> {
            RunQuery query = RunQuery.of(filter);
            if (behind.isPresent()) query = query.before(RunId.parse(behind.get()));
            Optional<String> schedule = request.query("schedule");
            if (schedule.isPresent())
                query = query.schedule(transaction
                        .project()
                        .schedules()
                        .get(schedule.get())
                        .filter(named -> ScheduleRoutes.isVisible(request, named))
                        .orElseThrow(() -> Problem.notFound("schedule"))
                        .id()
                        .value());
            return transaction.project().runs().page(query);
        });
        return executor.page(
                request,
                found,
                limit,
                run -> isVisible(request, run),
                JsonResponses::run,
                run -> run.id().toString());
    }

    private static RunFilter filter(ApiRequest request) {
        RunFilter filter = RunFilter.all();
        try {
            if (request.query("queue").isPresent())
                filter = filter.queue(request.query("queue").get());
            if (request.query("handler").isPresent())
                filter = filter.handler(request.query("handler").get());
        } catch (CarillonException wrong) {
            throw ApiRequest.invalidParameter("queue or handler", String.valueOf(wrong.getMessage()));
        }
        Optional<String> state = request.wordParameter("state", JsonResponses.states());
        return state.isPresent() ? filter.state(RunState.of(state.get())) : filter;
    }

    private ApiResponse get(ApiRequest request) {
        return executor.read(request, transaction -> {
            Run run = requireRun(transaction, request);
            JsonObject shown = JsonResponses.run(run);
            // The target of a webhook is its payload, which is kept longer than other payloads.
            if (WebhookTargetJson.isWebhook(run.target()))
                executor.context()
                        .webhooks()
                        .runs()
                        .payloadOf(
                                transaction.session(),
                                transaction.project().name(),
                                run.id().value())
                        .flatMap(WebhookTargetJson::fromPayload)
                        .ifPresent(target -> shown.put("target", WebhookTargetJson.toJson(target)));
            return ApiResponse.ok(shown);
        });
    }

    private ApiResponse attempts(ApiRequest request) {
        List<AttemptRecord> attempts = executor.read(request, transaction -> {
            requireRun(transaction, request);
            return transaction.project().runs().attempts(id(request));
        });
        return ApiResponse.ok(new JsonObject()
                .put("items", attempts.stream().map(JsonResponses::attempt).toList()));
    }

    private ApiResponse explain(ApiRequest request) {
        Explanation found = executor.read(request, transaction -> {
            requireRun(transaction, request);
            return transaction.project().runs().explain(id(request)).orElseThrow(() -> Problem.notFound("run"));
        });
        return ApiResponse.ok(new JsonObject()
                .put("state", found.state().text())
                .put("summary", found.summary())
                .put("holds", found.blockers()));
    }

    private ApiResponse enqueue(ApiRequest request) {
        JsonFields body = request.fields();
        TargetRequest targetRequest = ScheduleParser.target(body);
        Payload payload = targetRequest.payload(body);
        Enqueue options = targetRequest.withQueue(EnqueueParser.options(body));
        body.refuseUnknown();
        request.caller()
                .limits()
                .require(options.queue(), targetRequest.target().name());
        return executor.change(request, "run.enqueue", targetRequest.auditObject(), transaction -> {
            targetRequest.checkAllowed(executor, transaction);
            quotaCheck.checkRuns(transaction, 1);
            EnqueueResult result = transaction
                    .project()
                    .enqueueAll(targetRequest.target(), List.of(payload), options)
                    .get(0);
            transaction.addAuditDetail("run", result.run().toString());
            return ApiResponse.json(result instanceof EnqueueResult.Enqueued ? 201 : 200, toJson(result));
        });
    }

    private static JsonObject toJson(EnqueueResult result) {
        return new JsonObject()
                .put("run", result.run().toString())
                .put("enqueued", result instanceof EnqueueResult.Enqueued);
    }

    private ApiResponse enqueueMany(ApiRequest request) {
        JsonFields body = request.fields();
        TargetRequest targetRequest = ScheduleParser.target(body);
        List<JsonFields> items = body.required("runs", body.objects("runs"));
        if (items.isEmpty() || items.size() > MAX_BATCH)
            throw Problem.invalid("/runs", "This must have between 1 and %d items.".formatted(MAX_BATCH));
        Enqueue options = targetRequest.withQueue(EnqueueParser.options(body));
        List<Payload> payloads = new ArrayList<>();
        for (JsonFields item : items) {
            payloads.add(targetRequest.payload(item));
            item.refuseUnknown();
        }
        body.refuseUnknown();
        if (options.uniqueKey() != null)
            throw Problem.invalid("/key", "A batch cannot have a unique key. Leave it out.");
        request.caller()
                .limits()
                .require(options.queue(), targetRequest.target().name());
        return executor.change(request, "run.enqueue", targetRequest.auditObject(), transaction -> {
            targetRequest.checkAllowed(executor, transaction);
            quotaCheck.checkRuns(transaction, payloads.size());
            List<EnqueueResult> results = transaction.project().enqueueAll(targetRequest.target(), payloads, options);
            transaction.addAuditDetail("runs", Integer.toString(results.size()));
            return ApiResponse.json(
                    201,
                    new JsonObject()
                            .put(
                                    "items",
                                    results.stream().map(RunRoutes::toJson).toList()));
        });
    }

    private ApiResponse cancel(ApiRequest request) {
        JsonFields body = request.optionalFields();
        String reason =
                body.text("reason").orElse("cancelled by " + request.caller().actor());
        body.refuseUnknown();
        return executor.change(request, "run.cancel", "run/" + id(request), transaction -> {
            requireRun(transaction, request);
            CancelResult answer = transaction.project().runs().cancel(id(request), reason);
            if (answer instanceof CancelResult.Unknown) throw Problem.notFound("run");
            if (answer instanceof CancelResult.AlreadyEnded ended)
                throw Problem.of(
                        409,
                        "run-ended",
                        "The run has already ended (%s) and cannot be cancelled."
                                .formatted(ended.state().text()));
            boolean now = answer instanceof CancelResult.Cancelled;
            return ApiResponse.json(now ? 200 : 202, new JsonObject().put("state", now ? "cancelled" : "running"));
        });
    }

    private ApiResponse redrive(ApiRequest request) {
        request.optionalFields().refuseUnknown();
        return executor.change(request, "run.redrive", "run/" + id(request), transaction -> {
            Run run = requireRun(transaction, request);
            RedriveResult answer = transaction.project().runs().redrive(run.id());
            if (answer instanceof RedriveResult.NotDead)
                throw Problem.of(
                        409,
                        "run-not-dead",
                        "The run is %s or was already redriven. Only dead and quarantined runs can be redriven."
                                .formatted(run.state().text()));
            if (answer instanceof RedriveResult.KeyTaken taken)
                throw Problem.of(
                        409,
                        "key-taken",
                        "Another run holds the unique key \"%s\". Wait until that run has ended."
                                .formatted(taken.uniqueKey()));
            String fresh = ((RedriveResult.Redriven) answer).run().toString();
            transaction.addAuditDetail("run", fresh);
            return ApiResponse.json(201, new JsonObject().put("run", fresh));
        });
    }

    private ApiResponse reschedule(ApiRequest request) {
        JsonFields body = request.fields();
        Instant due = body.required("at", body.instant("at"));
        body.refuseUnknown();
        return executor.change(request, "run.reschedule", "run/" + id(request), transaction -> {
            requireRun(transaction, request);
            boolean moved =
                    body.convert("at", () -> transaction.project().runs().reschedule(id(request), due));
            if (!moved)
                throw Problem.of(
                        409,
                        "run-not-movable",
                        "Only a waiting run can be rescheduled. A tick, and a run with a concurrency, FIFO or rate key,"
                                + " cannot.");
            transaction.addAuditDetail("at", due.toString());
            return ApiResponse.ok(JsonResponses.run(requireRun(transaction, request)));
        });
    }
}
