package io.carillon.server.api;

import io.carillon.CarillonException;
import io.carillon.Project;
import io.carillon.Runs;
import io.carillon.run.AttemptRecord;
import io.carillon.run.CancelResult;
import io.carillon.run.Enqueue;
import io.carillon.run.EnqueueResult;
import io.carillon.run.Explanation;
import io.carillon.run.Payload;
import io.carillon.run.RedriveResult;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunQuery;
import io.carillon.run.RunState;
import io.carillon.server.endpoint.WebhookTargetJson;
import io.carillon.server.event.EventTarget;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import io.carillon.server.redaction.PayloadRedaction;
import io.carillon.server.request.IdempotentRequest;
import io.carillon.workflow.RecordedStep;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Routes to enqueue, read, explain, cancel, redrive and reschedule runs. */
final class RunRoutes {
    private static final int MAX_BATCH = 1_000;
    private final RequestExecutor executor;
    private final QuotaCheck quotaCheck;
    private final RunEnqueuer enqueuer;

    RunRoutes(RequestExecutor executor, QuotaCheck quotaCheck) {
        this.executor = executor;
        this.quotaCheck = quotaCheck;
        this.enqueuer = new RunEnqueuer(executor, quotaCheck);
    }

    List<Route> routes() {
        return List.of(
                Route.get("/v1/runs", Permission.READ, this::list)
                        .withQuery(
                                "limit",
                                "cursor",
                                "queue",
                                "notQueue",
                                "handler",
                                "key",
                                "notHandler",
                                "state",
                                "notState",
                                "schedule",
                                "from",
                                "to",
                                "workflow",
                                "stuck",
                                "parent",
                                "error",
                                "payload"),
                Route.post("/v1/runs", Permission.ENQUEUE, this::enqueue),
                Route.post("/v1/runs:batch", Permission.ENQUEUE, this::enqueueMany),
                Route.get("/v1/runs/{id}", Permission.READ, this::get),
                Route.get("/v1/runs/{id}/attempts", Permission.READ, this::attempts),
                Route.get("/v1/runs/{id}/steps", Permission.READ, this::steps).withQuery("limit", "cursor"),
                Route.get("/v1/runs/{id}/steps/{position}", Permission.READ, this::step),
                Route.get("/v1/runs/{id}/explain", Permission.READ, this::explain),
                Route.post("/v1/runs/{id}/signals", Permission.ENQUEUE, this::signal),
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

    static boolean isVisible(ApiRequest request, Run run) {
        return request.caller().limits().allows(run.queue(), run.target().name());
    }

    private ApiResponse list(ApiRequest request) {
        Optional<Function<Project, List<Run>>> byName = RunFilterParser.named(request);
        if (byName.isPresent()) return namedRuns(request, byName.get());
        RunQuery filtered = RunFilterParser.query(request);
        Optional<String> behind = executor.cursor(request);
        if (!request.caller()
                .limits()
                .allowsSome(filtered.filter().queue(), filtered.filter().handler()))
            return executor.page(request, Stream.empty(), Optional.empty());
        RunQuery.Page found = executor.read(request, transaction -> {
            RunQuery query = filtered;
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
            return transaction.project().runs().search(query);
        });
        found.runs().forEach(run -> reserveMemory(request, run.details()));
        return executor.page(
                request,
                found.runs().stream().filter(run -> isVisible(request, run)).map(JsonResponses::run),
                Optional.ofNullable(found.next()).map(RunId::toString));
    }

    private ApiResponse namedRuns(ApiRequest request, Function<Project, List<Run>> named) {
        List<Run> found = executor.read(request, transaction -> named.apply(transaction.project())).stream()
                .filter(run -> isVisible(request, run))
                .toList();
        found.forEach(run -> reserveMemory(request, run.details()));
        return executor.page(request, found.stream().map(JsonResponses::run), Optional.empty());
    }

    /** A delivery is parsed and written again. */
    private static void reserveMemory(ApiRequest request, Run.Details details) {
        Payload result = details.result();
        if (result != null) request.reserveMemoryForJson(result.bytes());
        request.reserveMemory(2L * length(details.log()) + 4L * length(details.delivery()));
    }

    private static int length(@Nullable String text) {
        return text == null ? 0 : text.length();
    }

    private ApiResponse get(ApiRequest request) {
        return executor.read(request, transaction -> {
            Run run = requireRun(transaction, request);
            JsonObject shown = JsonResponses.run(run);
            Optional<Payload> payload = transaction.project().runs().payload(run.id());
            // The target of a webhook is its payload, which is kept longer than other payloads.
            if (EventTarget.isEvent(run.target().kind(), run.target().name()))
                payload.flatMap(stored -> EventTarget.fromPayload(stored.bytes()))
                        .ifPresent(event -> shown.put("target", event.toJson())
                                .put("payload", JsonResponses.redactedPayload(event.dataPayload())));
            else if (WebhookTargetJson.isWebhook(run.target()))
                payload.flatMap(stored -> WebhookTargetJson.fromPayload(stored.bytes()))
                        .map(target -> target.body(PayloadRedaction.shownText(target.body())))
                        .ifPresent(target -> shown.put("target", WebhookTargetJson.toJson(target)));
            else payload.ifPresent(stored -> shown.put("payload", JsonResponses.redactedPayload(stored)));
            return ApiResponse.ok(shown);
        });
    }

    private ApiResponse attempts(ApiRequest request) {
        List<AttemptRecord> attempts = executor.read(request, transaction -> {
            requireRun(transaction, request);
            return transaction.project().runs().attempts(id(request));
        });
        attempts.forEach(
                attempt -> request.reserveMemory(2L * length(attempt.error()) + 4L * length(attempt.delivery())));
        return ApiResponse.ok(new JsonObject()
                .put("items", attempts.stream().map(JsonResponses::attempt).toList()));
    }

    private ApiResponse steps(ApiRequest request) {
        int limit = request.limit();
        int from =
                executor.cursor(request).map(last -> Integer.parseInt(last) + 1).orElse(0);
        List<RecordedStep> steps = executor.read(request, transaction -> {
            requireRun(transaction, request);
            return transaction.project().runs().steps(id(request), from, limit + 1);
        });
        steps.forEach(step -> reserveMemory(request, step));
        return executor.page(request, steps, limit, JsonResponses::step, step -> Integer.toString(step.position()));
    }

    private static void reserveMemory(ApiRequest request, RecordedStep step) {
        Payload value = step.value();
        if (value != null) request.reserveMemoryForJson(value.bytes());
        request.reserveMemory(2L * length(step.error()));
    }

    private ApiResponse step(ApiRequest request) {
        RecordedStep step = executor.read(request, transaction -> {
            requireRun(transaction, request);
            return position(request)
                    .flatMap(position -> transaction.project().runs().step(id(request), position))
                    .orElseThrow(() -> Problem.notFound("step"));
        });
        reserveMemory(request, step);
        return ApiResponse.ok(JsonResponses.step(step));
    }

    /** Returns the position of the path; empty if the value is no position. */
    private static Optional<Integer> position(ApiRequest request) {
        String text = request.pathValue("position");
        return text.matches("[0-9]{1,9}") ? Optional.of(Integer.parseInt(text)) : Optional.empty();
    }

    private ApiResponse explain(ApiRequest request) {
        Explanation found = executor.read(request, transaction -> {
            requireRun(transaction, request);
            return transaction.project().runs().explain(id(request)).orElseThrow(() -> Problem.notFound("run"));
        });
        return ApiResponse.ok(new JsonObject()
                .put("state", found.state().text())
                .put("summary", found.summary())
                .put("holds", found.blockers())
                .put("signal", found.signal()));
    }

    private ApiResponse enqueue(ApiRequest request) {
        JsonFields body = request.fields();
        TargetRequest targetRequest = ScheduleParser.target(body);
        Payload payload = targetRequest.payload(body);
        Enqueue options = targetRequest.withQueue(EnqueueParser.options(body));
        Optional<EnqueueParser.SignalRequest> signal = body.object("signal").map(EnqueueParser.SignalRequest::of);
        Optional<RunId> parent = body.text("parent").map(RunRoutes::parent);
        body.refuseUnknown();
        targetRequest.checkEnqueue(request.caller().limits(), options);
        Project project = executor.context().carillon().project(request.caller().project());
        Project.PreparedRun prepared = project.prepare(targetRequest.target(), payload, options);
        return enqueuer.enqueue(new RunEnqueuer.EnqueueRequest(
                request,
                targetRequest,
                parent.isPresent() ? prepared.asChildOf(parent.get()) : prepared,
                signal,
                signal.isEmpty() && RunEnqueuer.EnqueueRequest.isShareable(options),
                executor.warnings(targetRequest.target()),
                IdempotentRequest.of(request)));
    }

    private static RunId parent(String text) {
        try {
            return RunId.parse(text);
        } catch (CarillonException malformed) {
            throw Problem.invalid("/parent", String.valueOf(malformed.getMessage()));
        }
    }

    /** Returns the path of a run. */
    static String path(RunId run) {
        return "/v1/runs/" + run;
    }

    static JsonObject toJson(EnqueueResult result) {
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
        targetRequest.checkEnqueue(request.caller().limits(), options);
        List<String> warnings = executor.warnings(targetRequest.target());
        return executor.change(request, "run.enqueue", targetRequest.auditObject(), transaction -> {
            targetRequest.checkAllowed(new TargetRequest.WebhookRules(executor, transaction));
            quotaCheck.checkRuns(transaction, targetRequest, payloads.size());
            List<EnqueueResult> results = transaction.project().enqueueAll(targetRequest.target(), payloads, options);
            transaction.addAuditDetail("runs", Integer.toString(results.size()));
            return ApiResponse.json(
                    201,
                    new JsonObject()
                            .put(
                                    "items",
                                    results.stream().map(RunRoutes::toJson).toList())
                            .put("warnings", JsonResponses.warnings(warnings)));
        });
    }

    private ApiResponse signal(ApiRequest request) {
        EnqueueParser.SignalRequest signal = EnqueueParser.SignalRequest.of(request.fields());
        return executor.change(request, "run.signal", "run/" + id(request), transaction -> {
            Run run = requireRun(transaction, request);
            if (WebhookTargetJson.isWebhook(run.target())
                    || EventTarget.isEvent(run.target().kind(), run.target().name()))
                throw Problem.of(409, "run-not-workflow", "Only workflows get signals, and the run is none.");
            transaction.addAuditDetail("signal", signal.signal().name());
            signal.id().ifPresent(send -> transaction.addAuditDetail("id", send.id()));
            return ApiResponse.ok(new JsonObject()
                    .put("result", signal.send(transaction.project().workflow(run.id()))));
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
        JsonFields body = request.optionalFields();
        Optional<JsonNode> edited = body.jsonValue("payload");
        boolean keepSteps = body.flag("keepSteps").orElse(false);
        if (keepSteps && edited.isPresent())
            throw Problem.invalid("/payload", "A run that keeps its steps keeps its payload. Leave one of them out.");
        body.refuseUnknown();
        return executor.change(request, "run.redrive", "run/" + id(request), transaction -> {
            Run run = requireRun(transaction, request);
            boolean dead = run.state() == RunState.DEAD || run.state() == RunState.QUARANTINED;
            if (dead) quotaCheck.checkRedrive(transaction, run);
            Runs runs = transaction.project().runs();
            RedriveResult answer = edited.isEmpty()
                    ? (keepSteps ? runs.retry(run.id()) : runs.redrive(run.id()))
                    : body.convert(
                            "payload",
                            () -> runs.redrive(run.id(), TargetRequest.editedPayload(runs, run, edited.get())));
            if (edited.isPresent()) transaction.addAuditDetail("payload", "edited");
            if (keepSteps) transaction.addAuditDetail("steps", "kept");
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
            RunId fresh = ((RedriveResult.Redriven) answer).run();
            transaction.addAuditDetail("run", fresh.toString());
            return ApiResponse.json(201, new JsonObject().put("run", fresh.toString()))
                    .withLocation(path(fresh));
        });
    }

    private static Problem notMovable(Run run) {
        return Problem.of(
                409,
                "run-not-movable",
                run.state() == RunState.WAITING
                        ? "A tick, and a run with a concurrency, FIFO or rate key, cannot be rescheduled."
                        : "The run is %s. Only a waiting run can be rescheduled."
                                .formatted(run.state().text()));
    }

    private ApiResponse reschedule(ApiRequest request) {
        JsonFields body = request.fields();
        Instant due = body.required("at", body.instant("at"));
        body.refuseUnknown();
        return executor.change(request, "run.reschedule", "run/" + id(request), transaction -> {
            requireRun(transaction, request);
            boolean moved =
                    body.convert("at", () -> transaction.project().runs().reschedule(id(request), due));
            if (!moved) throw notMovable(requireRun(transaction, request));
            transaction.addAuditDetail("at", due.toString());
            return ApiResponse.ok(JsonResponses.run(requireRun(transaction, request)));
        });
    }
}
