package io.carillon.server.api;

import io.carillon.schedule.Preview;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.When;
import io.carillon.server.http.Answer;
import io.carillon.server.http.Call;
import io.carillon.server.http.Doc;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Route;
import io.carillon.store.LedgerEntry;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** All schedules beside each other on one axis of time: what became of instants that are over, and those to come. */
final class TimelineRoutes {
    private static final Duration EACH_WAY = Duration.ofDays(1);
    private static final Duration WIDEST = Duration.ofDays(31);

    /** A schedule that fires every second is a bar, not a list: who wants more of it asks for less time. */
    private static final int LINES = 200;

    private final Deeds deeds;

    TimelineRoutes(Deeds deeds) {
        this.deeds = deeds;
    }

    List<Route> routes() {
        return List.of(
                Route.get("/v1/timeline", Permission.READ, this::timeline).with("from", "to", "limit", "cursor"));
    }

    /** Which part of time, and where in it the past ends. */
    private record Stretch(Instant from, Instant now, Instant to) {
        Instant pastEnd() {
            return now.isBefore(to) ? now : to;
        }

        Instant comingStart() {
            return now.isAfter(from) ? now : from.minusNanos(1);
        }
    }

    private Answer timeline(Call call) {
        Instant now = deeds.now();
        Instant from = call.instant("from").orElse(now.minus(EACH_WAY));
        Instant to = call.instant("to").orElse((from.isAfter(now) ? from : now).plus(EACH_WAY));
        if (from.isAfter(to)) throw Call.parameter("from", "This lies after 'to'.");
        if (Duration.between(from, to).compareTo(WIDEST) > 0)
            throw Call.parameter("from", "A timeline spans %d days at most.".formatted(WIDEST.toDays()));
        Stretch stretch = new Stretch(from, now, to);
        int limit = call.limit();
        String after = deeds.cursor(call).orElse("");
        Map<String, Doc> rows = new HashMap<>();
        List<Schedule> found = deeds.read(call, desk -> {
            List<Schedule> all = desk.project().schedules().list(after, limit + 1);
            for (Schedule schedule : all.subList(0, Math.min(limit, all.size())))
                rows.put(schedule.name(), row(desk, schedule, stretch));
            return all;
        });
        return deeds.page(
                call, found, limit, schedule -> Objects.requireNonNull(rows.get(schedule.name())), Schedule::name);
    }

    private static Doc row(Deeds.Desk desk, Schedule schedule, Stretch stretch) {
        When when = schedule.definition().when();
        boolean paused = schedule.pause() != null;
        List<LedgerEntry> past = past(desk, schedule, stretch, when);
        List<Preview.Entry> coming = paused
                ? List.of()
                : when.preview(stretch.comingStart(), LINES).entries().stream()
                        .filter(entry -> !entry.utc().isAfter(stretch.to))
                        .limit(Math.max(schedule.runsLeft(), 0))
                        .toList();
        return new Doc()
                .put("schedule", schedule.name())
                .put("description", when.describe())
                .put("paused", paused)
                .put("past", past.stream().limit(LINES).map(Shapes::entry).toList())
                .put("coming", coming.stream().map(Shapes::instant).toList())
                .put("more", past.size() > LINES || coming.size() == LINES);
    }

    private static List<LedgerEntry> past(Deeds.Desk desk, Schedule schedule, Stretch stretch, When when) {
        if (stretch.from.isAfter(stretch.now)) return List.of();
        // One more than is shown, so that the rest is known of and not read.
        List<Preview.Entry> first =
                when.preview(stretch.from.minusNanos(1), LINES + 1).entries();
        Instant last = first.size() > LINES ? first.get(LINES).utc() : Instant.MAX;
        Instant end = last.isBefore(stretch.pastEnd()) ? last : stretch.pastEnd();
        return desk.project().schedules().ledger(schedule.name(), stretch.from, end);
    }
}
