package io.carillon.server.api;

import io.carillon.PauseOptions;
import io.carillon.internal.value.Years;
import io.carillon.run.Payload;
import io.carillon.schedule.DroppedHistoryPolicy;
import io.carillon.schedule.LedgerEntry;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.ScheduleChange;
import io.carillon.schedule.ScheduleDefinition;
import io.carillon.schedule.ScheduleOptions;
import io.carillon.schedule.SearchBudget;
import io.carillon.schedule.When;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.EntityTags;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.KeyLimits;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Routes to create, change, read, pause, resume, trigger, backfill and preview schedules, and to read their ledger.
 */
final class ScheduleRoutes {
    private static final Duration DEFAULT_LEDGER_RANGE = Duration.ofDays(1);

    private final RequestExecutor executor;
    private final QuotaCheck quotaCheck;

    ScheduleRoutes(RequestExecutor executor, QuotaCheck quotaCheck) {
        this.executor = executor;
        this.quotaCheck = quotaCheck;
    }

    List<Route> routes() {
        return List.of(
                Route.get("/v1/schedules", Permission.READ, this::list).withQuery("limit", "cursor"),
                Route.post("/v1/schedules:preview", Permission.READ, this::preview),
                Route.get("/v1/schedules/{name}", Permission.READ, this::get),
                Route.put("/v1/schedules/{name}", Permission.MANAGE, this::put),
                Route.delete("/v1/schedules/{name}", Permission.MANAGE, this::delete),
                Route.post("/v1/schedules/{name}/pause", Permission.MANAGE, this::pause),
                Route.post("/v1/schedules/{name}/resume", Permission.MANAGE, this::resume),
                Route.post("/v1/schedules/{name}/trigger", Permission.MANAGE, this::trigger),
                Route.post("/v1/schedules/{name}/backfill", Permission.MANAGE, this::backfill),
                Route.get("/v1/schedules/{name}/ledger", Permission.READ, this::ledger)
                        .withQuery("from", "to"));
    }

    private ApiResponse list(ApiRequest request) {
        int limit = request.limit();
        String after = executor.cursor(request).orElse("");
        List<Schedule> found = executor.read(
                request, transaction -> transaction.project().schedules().list(after, limit + 1));
        SearchBudget budget = executor.searchBudget();
        return executor.page(
                request,
                found,
                limit,
                schedule -> isVisible(request, schedule),
                schedule -> JsonResponses.schedule(schedule, executor.now(), budget),
                Schedule::name);
    }

    private ApiResponse get(ApiRequest request) {
        return toResponse(executor.read(request, transaction -> requireSchedule(transaction, request)));
    }

    private ApiResponse toResponse(Schedule schedule) {
        return ApiResponse.ok(JsonResponses.schedule(schedule, executor.now(), executor.searchBudget()))
                .withVersion(schedule.version());
    }

    private static Schedule requireSchedule(RequestExecutor.RequestTransaction transaction, ApiRequest request) {
        return transaction
                .project()
                .schedules()
                .get(request.pathName("name"))
                .filter(schedule -> isVisible(request, schedule))
                .orElseThrow(() -> Problem.notFound("schedule"));
    }

    /** To a restricted key, a schedule of another queue or handler does not exist. */
    static boolean isVisible(ApiRequest request, Schedule schedule) {
        ScheduleDefinition.RunTemplate template = schedule.definition().template();
        return request.caller().limits().allows(template.queue(), template.targetName());
    }

    /** A restricted key neither creates a schedule outside its restriction nor replaces one. */
    private static void checkRestriction(
            RequestExecutor.RequestTransaction transaction,
            ApiRequest request,
            TargetRequest target,
            ScheduleOptions options) {
        KeyLimits limits = request.caller().limits();
        if (!limits.isRestricted()) return;
        limits.require(options.queue(), target.target().name());
        transaction.project().schedules().get(request.pathName("name")).ifPresent(existing -> {
            ScheduleDefinition.RunTemplate template = existing.definition().template();
            limits.require(template.queue(), template.targetName());
        });
    }

    private ApiResponse put(ApiRequest request) {
        JsonFields body = request.fields();
        When when = ScheduleParser.when(body);
        TargetRequest targetRequest = ScheduleParser.target(body);
        Payload payload = targetRequest.payload(body);
        ScheduleOptions options = targetRequest.withQueue(ScheduleParser.options(body));
        body.refuseUnknown();
        String name = request.pathValue("name");
        return executor.change(request, "schedule.put", "schedule/" + name, transaction -> {
            checkRestriction(transaction, request, targetRequest, options);
            targetRequest.checkAllowed(executor, transaction);
            ScheduleChange change =
                    transaction.project().schedules().upsert(name, when, targetRequest.target(), payload, options);
            // Compared with the version that the change found under its lock, so that of two changes with the same tag
            // one fails.
            EntityTags.check(request, previousVersion(change));
            if (change instanceof ScheduleChange.Created) quotaCheck.checkSchedules(transaction);
            transaction.addAuditDetail(
                    "change", change.getClass().getSimpleName().toLowerCase(java.util.Locale.ROOT));
            transaction.addAuditDetail("target", targetRequest.auditObject());
            Schedule schedule = change.schedule();
            return ApiResponse.json(
                            change instanceof ScheduleChange.Created ? 201 : 200,
                            JsonResponses.schedule(schedule, executor.now(), executor.searchBudget())
                                    .put("warnings", JsonResponses.warnings(change.warnings())))
                    .withVersion(schedule.version());
        });
    }

    private static Optional<Long> previousVersion(ScheduleChange change) {
        long now = change.schedule().version();
        if (change instanceof ScheduleChange.Created) return Optional.empty();
        return Optional.of(change instanceof ScheduleChange.Updated ? now - 1 : now);
    }

    private ApiResponse delete(ApiRequest request) {
        return executor.change(request, "schedule.delete", auditObject(request), transaction -> {
            EntityTags.check(
                    request, Optional.of(requireSchedule(transaction, request).version()));
            if (!transaction.project().schedules().delete(request.pathName("name"))) throw Problem.notFound("schedule");
            return ApiResponse.noContent();
        });
    }

    private static String auditObject(ApiRequest request) {
        return "schedule/" + request.pathName("name");
    }

    private ApiResponse pause(ApiRequest request) {
        JsonFields body = request.optionalFields();
        Optional<String> reason = body.text("reason");
        Optional<Instant> until = body.instant("until");
        body.refuseUnknown();
        return executor.change(request, "schedule.pause", auditObject(request), transaction -> {
            requireSchedule(transaction, request);
            PauseOptions options = until.map(PauseOptions::until)
                    .orElseGet(PauseOptions::untilResumed)
                    .by(request.caller().actor());
            transaction
                    .project()
                    .schedules()
                    .pause(request.pathName("name"), reason.map(options::reason).orElse(options));
            reason.ifPresent(why -> transaction.addAuditDetail("reason", why));
            return toResponse(requireSchedule(transaction, request));
        });
    }

    private ApiResponse resume(ApiRequest request) {
        request.optionalFields().refuseUnknown();
        return executor.change(request, "schedule.resume", auditObject(request), transaction -> {
            requireSchedule(transaction, request);
            transaction.project().schedules().resume(request.pathName("name"));
            return toResponse(requireSchedule(transaction, request));
        });
    }

    private ApiResponse trigger(ApiRequest request) {
        request.optionalFields().refuseUnknown();
        return executor.change(request, "schedule.trigger", auditObject(request), transaction -> {
            requireSchedule(transaction, request);
            quotaCheck.checkRuns(transaction, 1);
            String run = transaction
                    .project()
                    .schedules()
                    .trigger(request.pathName("name"))
                    .toString();
            transaction.addAuditDetail("run", run);
            return ApiResponse.json(201, new JsonObject().put("run", run));
        });
    }

    private ApiResponse backfill(ApiRequest request) {
        JsonFields body = request.fields();
        Instant from = body.required("from", body.instant("from"));
        Instant to = body.required("to", body.instant("to"));
        boolean dry = body.flag("dryRun").orElse(false);
        DroppedHistoryPolicy dropped =
                body.enumValue("droppedHistory", DroppedHistoryPolicy.class).orElse(DroppedHistoryPolicy.REFUSE);
        body.refuseUnknown();
        if (from.isAfter(to)) throw Problem.invalid("/from", "This must not be after \"to\".");
        return executor.change(request, "schedule.backfill", auditObject(request), transaction -> {
            requireSchedule(transaction, request);
            int count = transaction.project().schedules().previewBackfill(request.pathName("name"), from, to, dropped);
            if (!dry) {
                quotaCheck.checkRuns(transaction, count);
                transaction.project().schedules().backfill(request.pathName("name"), from, to, dropped);
            }
            transaction.addAuditDetail("from", from.toString());
            transaction.addAuditDetail("to", to.toString());
            transaction.addAuditDetail("dryRun", Boolean.toString(dry));
            return ApiResponse.ok(new JsonObject().put("runs", count).put("dryRun", dry));
        });
    }

    private ApiResponse preview(ApiRequest request) {
        JsonFields body = request.fields();
        When when = ScheduleParser.when(body);
        Instant after = body.instant("after").orElseGet(executor::now);
        int count = body.integer("count").orElse(10);
        body.refuseUnknown();
        return ApiResponse.ok(JsonResponses.preview(
                body.convert("count", () -> when.preview(after, Years.LATEST, count, executor.searchBudget()))));
    }

    private ApiResponse ledger(ApiRequest request) {
        Instant to = request.instant("to").orElseGet(executor::now);
        Instant from = request.instant("from").orElseGet(() -> to.minus(DEFAULT_LEDGER_RANGE));
        if (from.isAfter(to)) throw ApiRequest.invalidParameter("from", "This must not be after \"to\".");
        List<LedgerEntry> entries = executor.read(request, transaction -> ledger(transaction, request, from, to));
        return ApiResponse.ok(new JsonObject()
                .put("from", from)
                .put("to", to)
                .put("items", entries.stream().map(JsonResponses::ledgerEntry).toList()));
    }

    private static List<LedgerEntry> ledger(
            RequestExecutor.RequestTransaction transaction, ApiRequest request, Instant from, Instant to)
            throws SQLException {
        requireSchedule(transaction, request);
        return transaction.project().schedules().ledger(request.pathName("name"), from, to);
    }
}
