package io.carillon.server.api;

import io.carillon.schedule.LedgerEntry;
import io.carillon.schedule.Preview;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.SearchBudget;
import io.carillon.schedule.When;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Route;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The planned instants of all schedules in a range of time: what happened to the past ones, and the future ones. */
final class TimelineRoutes {
    private static final Duration DEFAULT_REACH = Duration.ofDays(1);
    private static final Duration MAX_RANGE = Duration.ofDays(31);

    /**
     * The maximum number of instants per schedule in each direction. A caller that needs more requests a shorter range.
     */
    private static final int MAX_ENTRIES = 200;

    private final RequestExecutor executor;

    TimelineRoutes(RequestExecutor executor) {
        this.executor = executor;
    }

    List<Route> routes() {
        return List.of(
                Route.get("/v1/timeline", Permission.READ, this::timeline).withQuery("from", "to", "limit", "cursor"));
    }

    /** The requested range, and the present, which separates past from future. */
    private record TimelineRange(Instant from, Instant now, Instant to) {
        Instant pastEnd() {
            return now.isBefore(to) ? now : to;
        }

        Instant futureStart() {
            return now.isAfter(from) ? now : from.minusNanos(1);
        }
    }

    private ApiResponse timeline(ApiRequest request) {
        Instant now = executor.now();
        Instant from = request.instant("from").orElse(now.minus(DEFAULT_REACH));
        Instant to = request.instant("to").orElse((from.isAfter(now) ? from : now).plus(DEFAULT_REACH));
        if (from.isAfter(to)) throw ApiRequest.invalidParameter("from", "This must not be after \"to\".");
        if (Duration.between(from, to).compareTo(MAX_RANGE) > 0)
            throw ApiRequest.invalidParameter(
                    "from", "The range must not exceed %d days.".formatted(MAX_RANGE.toDays()));
        TimelineRange range = new TimelineRange(from, now, to);
        int limit = request.limit();
        String after = executor.cursor(request).orElse("");
        Map<String, JsonObject> rows = new HashMap<>();
        SearchBudget budget = executor.searchBudget();
        List<Schedule> found = executor.read(request, transaction -> {
            List<Schedule> all = transaction.project().schedules().list(after, limit + 1);
            for (Schedule schedule : all.subList(0, Math.min(limit, all.size())))
                rows.put(schedule.name(), row(transaction, schedule, range, budget));
            return all;
        });
        return executor.page(
                request, found, limit, schedule -> Objects.requireNonNull(rows.get(schedule.name())), Schedule::name);
    }

    private static JsonObject row(
            RequestExecutor.RequestTransaction transaction,
            Schedule schedule,
            TimelineRange range,
            SearchBudget budget) {
        When when = schedule.definition().when();
        boolean paused = schedule.pause() != null;
        List<LedgerEntry> past = past(transaction, schedule, range, budget);
        List<Preview.Entry> coming = paused
                ? List.of()
                : when.preview(range.futureStart(), range.to, MAX_ENTRIES, budget).entries().stream()
                        .limit(Math.max(schedule.runsLeft(), 0))
                        .toList();
        return new JsonObject()
                .put("schedule", schedule.name())
                .put("description", when.describe())
                .put("paused", paused)
                .put(
                        "past",
                        past.stream()
                                .limit(MAX_ENTRIES)
                                .map(JsonResponses::ledgerEntry)
                                .toList())
                .put("coming", coming.stream().map(JsonResponses::previewEntry).toList())
                .put("more", past.size() > MAX_ENTRIES || coming.size() == MAX_ENTRIES);
    }

    private static List<LedgerEntry> past(
            RequestExecutor.RequestTransaction transaction,
            Schedule schedule,
            TimelineRange range,
            SearchBudget budget) {
        if (range.from.isAfter(range.now)) return List.of();
        // Reads one instant more than is shown, to know whether there are more without reading the rest.
        List<Preview.Entry> first = schedule.definition()
                .when()
                .preview(range.from.minusNanos(1), range.pastEnd(), MAX_ENTRIES + 1, budget)
                .entries();
        Instant last = first.size() > MAX_ENTRIES ? first.get(MAX_ENTRIES).utc() : Instant.MAX;
        Instant end = last.isBefore(range.pastEnd()) ? last : range.pastEnd();
        return transaction.project().schedules().ledger(schedule.name(), range.from, end);
    }
}
