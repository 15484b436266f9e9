package io.carillon.postgres;

import static java.util.Objects.requireNonNull;

import io.carillon.run.ErrorText;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.When;
import io.carillon.store.PlanStore;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Changes schedules where nobody does it by hand: pauses begin and end, intervals follow the backlog, and new time zone rules move the future. */
final class ScheduleKeeper {
    static final String OVER = """
            SELECT s.project, s.name, s.version FROM carillon.schedule s
             WHERE s.paused_until <= carillon.clock() ORDER BY s.paused_until LIMIT 500
            """;

    // Whoever shall pause by itself and has a run soon.
    static final String MAY_FAIL = """
            SELECT * FROM carillon.schedule
             WHERE paused_at IS NULL AND pause_after IS NOT NULL
               AND next_at >= :since AND next_at <= carillon.clock() + make_interval(secs => :ahead)
             ORDER BY next_at LIMIT 500
            """;

    // Asked in each round: no success has to reset a counter, and a schedule without the wish
    // costs
    // nothing. An edit or a resume starts the count anew: what failed before it was another promise.
    private static final String FAILING = """
            SELECT s.project, s.name, s.version, s.pause_after, f.error
              FROM (""" + MAY_FAIL + """
                   ) s
              CROSS JOIN LATERAL (
                SELECT count(*) AS failed, (array_agg(e.reason ORDER BY e.planned_at DESC))[1] AS error
                  FROM (SELECT h.state, h.reason, h.planned_at FROM carillon.run_history h
                         WHERE h.schedule_id = s.id AND h.origin IN ('tick', 'backfill') AND h.origin = 'tick'
                           AND h.state IN ('succeeded', 'dead', 'quarantined') AND h.ended_at > s.updated_at
                         ORDER BY h.planned_at DESC LIMIT s.pause_after) e
                 WHERE e.state <> 'succeeded') f
             WHERE f.failed >= s.pause_after
            """;

    static final String OLDER_RULES = """
            SELECT s.project, s.name, s.version FROM carillon.schedule s
             WHERE s.tzdata COLLATE "C" < :tzdata AND s.kind <> 'once' AND s.zone <> 'UTC' AND s.zone <> 'Z'
             ORDER BY s.tzdata COLLATE "C" LIMIT 100
            """;

    // Its own runs are no backlog to a schedule: the one that looks may be among them.
    static final String ADAPTABLE = "SELECT " + ScheduleRows.COLUMNS + """
              , s.adaptive_backlog, lane.backlog
              FROM carillon.schedule s
              CROSS JOIN LATERAL (
                SELECT count(*) AS backlog FROM unnest('{0,1,2,3}'::smallint[]) AS c(class)
                  CROSS JOIN LATERAL (SELECT 1 FROM carillon.run r
                                       WHERE r.queue = s.queue AND r.project = s.project AND r.class = c.class AND r.ready_at <= carillon.clock()
                                         AND r.owner IS NULL AND r.schedule_id IS DISTINCT FROM s.id
                                       ORDER BY r.target_name, r.ready_at LIMIT 10000) waiting) lane
             WHERE s.adaptive_min IS NOT NULL AND s.paused_at IS NULL AND s.adaptive_at IS DISTINCT FROM s.cursor AND s.cursor <= carillon.clock()
             ORDER BY s.cursor LIMIT 500
            """;

    private static final String ADAPT = """
            UPDATE carillon.schedule
               SET expression = :expression, anchor = cursor, next_at = :next, adaptive_at = cursor, adaptive_backlog = :backlog
             WHERE project = :project AND id = :id AND version = :version AND cursor = :cursor AND paused_at IS NULL
               AND adaptive_at IS DISTINCT FROM cursor
            """;

    private static final Logger log = LoggerFactory.getLogger(ScheduleKeeper.class);
    private final Database database;
    private final ScheduleRepository schedules;

    ScheduleKeeper(Database database, ScheduleRepository schedules) {
        this.database = database;
        this.schedules = schedules;
    }

    /** A schedule as it was seen, and the pause it needs; null: its pause is over. */
    private record Turn(String project, String name, long version, Schedule.@Nullable Pause pause) {}

    List<Schedule> turn(PlanStore.Reach reach) {
        List<Turn> turns = database.single(session -> {
            List<Turn> found = new ArrayList<>(session.query(OVER)
                    .list(row -> new Turn(row.text("project"), row.text("name"), row.number("version"), null)));
            found.addAll(session.query(FAILING)
                    .instant("since", reach.since())
                    .seconds("ahead", reach.ahead())
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

    int followZones() {
        String rules = ScheduleRows.tzdata();
        List<Turn> older = database.single(session -> session.query(OLDER_RULES)
                .text("tzdata", rules)
                .list(row -> new Turn(row.text("project"), row.text("name"), row.number("version"), null)));
        int planned = 0;
        for (Turn turn : older) {
            if (!unlessRefused(turn.name, () -> schedules.planAnew(turn.project, turn.name, turn.version))) continue;
            planned++;
            log.info("schedule planned anew schedule={} project={} tzdata={}", turn.name, turn.project, rules);
        }
        return planned;
    }

    int followBacklogs() {
        record Look(Schedule schedule, long before, long now) {}
        List<Look> looks = database.single(session -> session.query(ADAPTABLE)
                .list(row -> new Look(ScheduleRows.read(row), row.number("adaptive_backlog"), row.number("backlog"))));
        int followed = 0;
        for (Look look : looks)
            if (unlessRefused(look.schedule.name(), () -> adapt(look.schedule, look.before, look.now))) followed++;
        return followed;
    }

    private boolean adapt(Schedule schedule, long before, long now) {
        When when = schedule.definition().when();
        Instant cursor = schedule.progress().cursor();
        Duration next = requireNonNull(when.adaptive()).next(requireNonNull(when.step()), before, now);
        return database.single(session -> session.query(ADAPT)
                        .text("project", schedule.definition().project())
                        .uuid("id", schedule.id().value())
                        .number("version", schedule.version())
                        .instant("cursor", cursor)
                        .text("expression", next.toSeconds() + " seconds")
                        .instant(
                                "next",
                                schedule.runsLeft() == 0
                                        ? Instant.MAX
                                        : when.paced(next, cursor).next(cursor).orElse(Instant.MAX))
                        .number("backlog", now)
                        .update()
                == 1);
    }

    private boolean did(Turn turn) {
        Optional<Long> seen = Optional.of(turn.version);
        return unlessRefused(
                turn.name,
                () -> turn.pause == null
                        ? schedules.resume(turn.project, turn.name, seen)
                        : schedules.pause(turn.project, turn.name, turn.pause, seen));
    }

    /** One schedule must not stop the planning of others. */
    private static boolean unlessRefused(String name, BooleanSupplier change) {
        try {
            return change.getAsBoolean();
        } catch (CarillonException refusal) {
            if (refusal.code() == ErrorCode.UNKNOWN_SCHEDULE) return false; // deleted since we looked
            if (!(refusal instanceof StorageException failure) || !failure.rowAtFault()) throw refusal;
            log.error("change refused schedule={} error={}", name, failure.getMessage());
            return false;
        }
    }

    private static Schedule.Pause failed(int times, @Nullable String error) {
        String last = error == null ? "" : ": " + ErrorText.firstLine(error);
        String why = times == 1 ? "a run failed" : times + " runs in a row failed";
        return new Schedule.Pause(Instant.EPOCH, "carillon", why + last, null);
    }
}
