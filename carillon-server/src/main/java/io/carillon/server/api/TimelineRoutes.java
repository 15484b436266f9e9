package io.carillon.server.api;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.schedule.LedgerEntry;
import io.carillon.schedule.Preview;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.SearchBudget;
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
import java.util.Optional;

/** The planned instants of all schedules in a range of time: what happened to the past ones, and the future ones. */
final class TimelineRoutes {
    private static final Duration DEFAULT_REACH = Duration.ofDays(1);
    private static final Duration MAX_RANGE = Duration.ofDays(31);

    /**
     * The maximum number of instants per schedule in each direction: those nearest to now. A caller that needs more
     * requests a shorter range.
     */
    private static final int MAX_ENTRIES = 200;

    /** The number of schedules of a page, which bounds its memory. */
    private static final int MAX_SCHEDULES = 50;

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

        private Instant futureStart() {
            return now.isAfter(from) ? now : from.minusNanos(1);
        }

        private List<Preview.Entry> coming(ApiRequest request, Schedule schedule, SearchBudget budget) {
            if (schedule.pause() != null) return List.of();
            List<Preview.Entry> coming =
                    schedule.definition().when().preview(futureStart(), to, MAX_ENTRIES, budget).entries().stream()
                            .limit(Math.max(schedule.runsLeft(), 0))
                            .toList();
            request.reserveMemory(coming.size() * JsonResponses.BYTES_OF_ENTRY);
            return coming;
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
        int limit = Math.min(request.limit(), MAX_SCHEDULES);
        Optional<String> after = executor.cursor(request);
        Map<String, List<LedgerEntry>> past = new HashMap<>();
        ScheduleRoutes.SchedulePage page = executor.read(request, transaction -> {
            ScheduleRoutes.SchedulePage all = ScheduleRoutes.page(transaction, after, "", limit);
            for (Schedule schedule :
                    all.found().subList(0, Math.min(all.limit(), all.found().size()))) {
                List<LedgerEntry> entries = past(transaction, schedule, range);
                request.reserveMemory(entries.size() * JsonResponses.BYTES_OF_ENTRY);
                past.put(schedule.name(), entries);
            }
            return all;
        });
        // After the transaction: a long search must not keep a connection from other requests.
        SearchBudget budget = executor.searchBudget();
        return executor.page(
                request,
                page.found(),
                page.limit(),
                schedule -> row(
                        Objects.requireNonNull(past.get(schedule.name())),
                        schedule,
                        range.coming(request, schedule, budget)),
                Schedule::name);
    }

    private static JsonObject row(List<LedgerEntry> past, Schedule schedule, List<Preview.Entry> coming) {
        return new JsonObject()
                .put("schedule", schedule.name())
                .put("description", schedule.definition().when().describe())
                .put("paused", schedule.pause() != null)
                .put(
                        "past",
                        past.stream()
                                .skip(Math.max(0, past.size() - MAX_ENTRIES))
                                .map(JsonResponses::ledgerEntry)
                                .toList())
                .put("coming", coming.stream().map(JsonResponses::previewEntry).toList())
                .put("more", past.size() > MAX_ENTRIES || coming.size() == MAX_ENTRIES);
    }

    /** Returns the latest entries before now, one more than is shown, to know whether there are earlier ones. */
    private static List<LedgerEntry> past(
            RequestExecutor.RequestTransaction transaction, Schedule schedule, TimelineRange range) {
        if (range.from.isAfter(range.now)) return List.of();
        try {
            return transaction
                    .project()
                    .schedules()
                    .latestEntries(schedule.name(), range.from, range.pastEnd(), MAX_ENTRIES + 1);
        } catch (CarillonException deleted) {
            // Another request has deleted the schedule since it was listed.
            if (deleted.code() != ErrorCode.UNKNOWN_SCHEDULE) throw deleted;
            return List.of();
        }
    }
}
