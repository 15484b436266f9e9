package io.carillon.postgres;

import io.carillon.run.ErrorText;
import io.carillon.schedule.Schedule;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Begins and ends the pauses that nobody begins or ends by hand. */
final class PauseKeeper {
    private static final String OVER = """
            SELECT s.project, s.name, s.version FROM carillon.schedule s
             WHERE s.paused_until <= carillon.clock() ORDER BY s.paused_until LIMIT 500
            """;

    // Asked when ticks are about to be planned: no success has to reset a counter, and a schedule without the wish
    // costs
    // nothing. An edit or a resume starts the count anew: what failed before it was another promise.
    private static final String FAILING = """
            SELECT s.project, s.name, s.version, s.pause_after, f.error
              FROM (SELECT * FROM carillon.schedule
                     WHERE paused_at IS NULL AND pause_after IS NOT NULL AND next_at <= carillon.clock() + make_interval(secs => :ahead)
                     ORDER BY next_at LIMIT 500) s
              CROSS JOIN LATERAL (
                SELECT count(*) AS failed, (array_agg(e.reason ORDER BY e.planned_at DESC))[1] AS error
                  FROM (SELECT h.state, h.reason, h.planned_at FROM carillon.run_history h
                         WHERE h.schedule_id = s.id AND h.origin IN ('tick', 'backfill') AND h.origin = 'tick'
                           AND h.state IN ('succeeded', 'dead', 'quarantined') AND h.ended_at > s.updated_at
                         ORDER BY h.planned_at DESC LIMIT s.pause_after) e
                 WHERE e.state <> 'succeeded') f
             WHERE f.failed >= s.pause_after
            """;

    private final Database database;
    private final ScheduleRepository schedules;

    PauseKeeper(Database database, ScheduleRepository schedules) {
        this.database = database;
        this.schedules = schedules;
    }

    /** A schedule as it was seen, and the pause it needs; null: its pause is over. */
    private record Turn(String project, String name, long version, Schedule.@Nullable Pause pause) {}

    List<Schedule> turn(Duration lookAhead) {
        List<Turn> turns = database.single(session -> {
            List<Turn> found = new ArrayList<>(session.query(OVER)
                    .list(row -> new Turn(row.text("project"), row.text("name"), row.number("version"), null)));
            found.addAll(session.query(FAILING)
                    .seconds("ahead", lookAhead)
                    .list(row -> new Turn(
                            row.text("project"),
                            row.text("name"),
                            row.number("version"),
                            failed(row.integer("pause_after"), row.maybeText("error")))));
            return found;
        });
        List<Schedule> turned = new ArrayList<>();
        for (Turn turn : turns)
            if (did(turn)) schedules.get(turn.project, turn.name).ifPresent(turned::add);
        return turned;
    }

    private boolean did(Turn turn) {
        Optional<Long> seen = Optional.of(turn.version);
        try {
            return turn.pause == null
                    ? schedules.resume(turn.project, turn.name, seen)
                    : schedules.pause(turn.project, turn.name, turn.pause, seen);
        } catch (CarillonException refusal) {
            if (refusal.code() == ErrorCode.UNKNOWN_SCHEDULE) return false; // deleted since we looked
            throw refusal;
        }
    }

    private static Schedule.Pause failed(int times, @Nullable String error) {
        String last = error == null ? "" : ": " + ErrorText.firstLine(error);
        String why = times == 1 ? "a run failed" : times + " runs in a row failed";
        return new Schedule.Pause(Instant.EPOCH, "carillon", why + last, null);
    }
}
