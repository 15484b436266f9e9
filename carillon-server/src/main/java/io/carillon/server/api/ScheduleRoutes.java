package io.carillon.server.api;

import io.carillon.CarillonException;
import io.carillon.PauseOptions;
import io.carillon.Schedules;
import io.carillon.internal.postgres.reads.ScheduleLock;
import io.carillon.internal.postgres.reads.ServerReads;
import io.carillon.internal.value.Names;
import io.carillon.internal.value.Years;
import io.carillon.run.Payload;
import io.carillon.run.RunId;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Routes to create, change, read, pause, resume, trigger, backfill and preview schedules, and to read their ledger.
 */
final class ScheduleRoutes {
    private static final Duration DEFAULT_LEDGER_RANGE = Duration.ofDays(1);
    /** The payloads of a page; a single payload may have a quarter of that. */
    private static final long MAX_PAGE_BYTES = 1024 * 1024;

    private final RequestExecutor executor;
    private final QuotaCheck quotaCheck;

    ScheduleRoutes(RequestExecutor executor, QuotaCheck quotaCheck) {
        this.executor = executor;
        this.quotaCheck = quotaCheck;
    }

    List<Route> routes() {
        return List.of(
                Route.get("/v1/schedules", Permission.READ, this::list).withQuery("limit", "cursor", "prefix"),
                Route.post("/v1/schedules:preview", Permission.READ, this::preview),
                new ScheduleBatchRoute(executor, quotaCheck).route(),
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
        Optional<String> cursor = executor.cursor(request);
        String prefix =
                request.query("prefix").map(ScheduleRoutes::checkedPrefix).orElse("");
        // The pages of a restricted key are those of all names: whether there is a next one does not depend on the
        // prefix.
        String start = request.caller().limits().isRestricted() ? "" : prefix;
        SchedulePage page = executor.read(request, transaction -> page(transaction, cursor, start, limit));
        page.found()
                .forEach(schedule -> request.reserveMemoryForJson(
                        schedule.definition().template().payload()));
        SearchBudget budget = executor.searchBudget();
        return executor.page(
                request,
                page.found(),
                page.limit(),
                schedule -> schedule.name().startsWith(prefix) && isVisible(request, schedule),
                schedule -> JsonResponses.schedule(schedule, executor.now(), budget),
                Schedule::name);
    }

    /**
     * The schedules of a page.
     *
     * @param found more than the limit if there are more
     * @param limit the number of schedules that the page shows: fewer than requested if their payloads are large
     */
    record SchedulePage(List<Schedule> found, int limit) {}

    /** Returns the schedules after the cursor whose names begin with the prefix, as many as the memory allows. */
    static SchedulePage page(
            RequestExecutor.RequestTransaction transaction, Optional<String> cursor, String prefix, int limit)
            throws SQLException {
        int fitting = Math.max(
                1,
                ServerReads.countSchedulesWithin(
                        transaction.session(),
                        transaction.project().name(),
                        cursor.orElse(prefix),
                        limit,
                        MAX_PAGE_BYTES));
        List<Schedule> found = list(transaction.project().schedules(), cursor, prefix, fitting + 2);
        // The schedule that has the prefix as its name comes before those that were counted.
        boolean exact =
                cursor.isEmpty() && !found.isEmpty() && found.get(0).name().equals(prefix);
        return new SchedulePage(found, Math.min(limit, exact ? fitting + 1 : fitting));
    }

    /** Every beginning of a name is a valid name. */
    private static String checkedPrefix(String prefix) {
        try {
            return Names.check("schedule", prefix);
        } catch (CarillonException invalid) {
            throw ApiRequest.invalidParameter("prefix", String.valueOf(invalid.getMessage()));
        }
    }

    /**
     * Returns the schedules after the cursor whose names begin with the prefix. Names are in the order of their bytes.
     */
    private static List<Schedule> list(Schedules schedules, Optional<String> cursor, String prefix, int limit) {
        List<Schedule> found = new ArrayList<>();
        if (cursor.isEmpty() && !prefix.isEmpty()) schedules.get(prefix).ifPresent(found::add);
        for (Schedule schedule : schedules.list(cursor.orElse(prefix), limit - found.size()))
            if (schedule.name().startsWith(prefix)) found.add(schedule);
        return found;
    }

    private ApiResponse get(ApiRequest request) {
        return toResponse(executor.read(request, transaction -> requireSchedule(transaction, request)));
    }

    private ApiResponse toResponse(Schedule schedule) {
        return ApiResponse.ok(JsonResponses.singleSchedule(schedule, executor.now(), executor.searchBudget()))
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

    /**
     * Like {@link #requireSchedule}, for a change. For a restricted key it locks the schedule first, so that no other
     * request moves the schedule to another queue or handler between the check and the change.
     */
    private static Schedule requireForChange(RequestExecutor.RequestTransaction transaction, ApiRequest request)
            throws SQLException {
        if (request.caller().limits().isRestricted()) lock(transaction, request);
        return requireSchedule(transaction, request);
    }

    private static boolean lock(RequestExecutor.RequestTransaction transaction, ApiRequest request)
            throws SQLException {
        return ScheduleLock.lock(transaction.session(), transaction.project().name(), request.pathName("name"));
    }

    /**
     * A restricted key neither creates a schedule outside its restriction nor replaces one.
     *
     * @return whether the schedule must not exist yet, because the key saw none when it was checked
     */
    private static boolean checkRestriction(
            RequestExecutor.RequestTransaction transaction,
            ApiRequest request,
            TargetRequest target,
            ScheduleOptions options)
            throws SQLException {
        KeyLimits limits = request.caller().limits();
        if (!limits.isRestricted()) return false;
        target.checkRestriction(limits, options.queue());
        if (!lock(transaction, request)) return true;
        transaction.project().schedules().get(request.pathName("name")).ifPresent(existing -> {
            ScheduleDefinition.RunTemplate template = existing.definition().template();
            limits.require(template.queue(), template.targetName());
        });
        return false;
    }

    private ApiResponse put(ApiRequest request) {
        JsonFields body = request.fields();
        When when = ScheduleParser.when(body);
        String name = request.pathValue("name");
        TargetRequest targetRequest = ScheduleParser.target(body).ofSchedule(name);
        Payload payload = targetRequest.payload(body);
        ScheduleOptions options = targetRequest.withQueue(ScheduleParser.options(body));
        body.refuseUnknown();
        List<String> warnings = new ArrayList<>(executor.warnings(targetRequest.target()));
        return executor.change(request, "schedule.put", "schedule/" + name, transaction -> {
            boolean mustBeNew = checkRestriction(transaction, request, targetRequest, options);
            targetRequest.checkAllowed(new TargetRequest.WebhookRules(executor, transaction));
            ScheduleChange change =
                    transaction.project().schedules().upsert(name, when, targetRequest.target(), payload, options);
            if (mustBeNew && !(change instanceof ScheduleChange.Created)) throw createdMeanwhile();
            // Compared with the version that the change found under its lock, so that of two changes with the same tag
            // one fails.
            EntityTags.check(request, previousVersion(change));
            if (change instanceof ScheduleChange.Created) quotaCheck.checkSchedules(transaction);
            transaction.addAuditDetail(
                    "change", change.getClass().getSimpleName().toLowerCase(java.util.Locale.ROOT));
            transaction.addAuditDetail("target", targetRequest.auditObject());
            Schedule schedule = change.schedule();
            warnings.addAll(0, change.warnings());
            JsonObject shown = JsonResponses.singleSchedule(schedule, executor.now(), executor.searchBudget())
                    .put("warnings", JsonResponses.warnings(warnings));
            ApiResponse response = change instanceof ScheduleChange.Created
                    ? ApiResponse.json(201, shown).withLocation("/v1/schedules/" + schedule.name())
                    : ApiResponse.ok(shown);
            return response.withVersion(schedule.version());
        });
    }

    /** Returns the problem of a restricted key that saw no schedule of this name when it was checked. */
    static Problem createdMeanwhile() {
        return Problem.of(
                409,
                "schedule-exists",
                "Another request created this schedule at the same time. Send the request again.");
    }

    private static Optional<Long> previousVersion(ScheduleChange change) {
        long now = change.schedule().version();
        if (change instanceof ScheduleChange.Created) return Optional.empty();
        return Optional.of(change instanceof ScheduleChange.Updated ? now - 1 : now);
    }

    private ApiResponse delete(ApiRequest request) {
        return executor.change(request, "schedule.delete", auditObject(request), transaction -> {
            EntityTags.check(
                    request, Optional.of(requireForChange(transaction, request).version()));
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
            requireForChange(transaction, request);
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
            requireForChange(transaction, request);
            transaction.project().schedules().resume(request.pathName("name"));
            return toResponse(requireSchedule(transaction, request));
        });
    }

    private ApiResponse trigger(ApiRequest request) {
        request.optionalFields().refuseUnknown();
        return executor.change(request, "schedule.trigger", auditObject(request), transaction -> {
            quotaCheck.checkRuns(transaction, requireForChange(transaction, request), 1);
            RunId run = transaction.project().schedules().trigger(request.pathName("name"));
            transaction.addAuditDetail("run", run.toString());
            return ApiResponse.json(201, new JsonObject().put("run", run.toString()))
                    .withLocation(RunRoutes.path(run));
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
            Schedule schedule = requireForChange(transaction, request);
            int count = transaction.project().schedules().previewBackfill(request.pathName("name"), from, to, dropped);
            if (!dry) {
                quotaCheck.checkRuns(transaction, schedule, count);
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
        request.reserveMemory(entries.size() * JsonResponses.BYTES_OF_ENTRY);
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
