package io.carillon.internal.postgres.schedule;

import static java.util.Objects.requireNonNull;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.jdbc.StorageException;
import io.carillon.internal.run.ErrorText;
import io.carillon.internal.store.schedule.PlanStore;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.When;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The automatic changes of schedules: starts and ends pauses, adapts intervals to the backlog, and plans the future
 * again after a change of time zone rules.
 */
public final class ScheduleMaintenance {
    static final String PAUSES_OVER = """
            SELECT s.project, s.name, s.id, s.version FROM carillon.schedule s
             WHERE s.paused_until <= carillon.clock() AND s.id <> ALL (:unreadable::uuid[]) ORDER BY s.paused_until
               LIMIT 500
            """;

    // Schedules that pause automatically after failures and have a run soon.
    static final String AUTO_PAUSE_CANDIDATES = """
            SELECT * FROM carillon.schedule
             WHERE paused_at IS NULL AND pause_after IS NOT NULL
               AND next_at >= :since AND next_at <= carillon.clock() + make_interval(secs => :ahead)
             ORDER BY next_at LIMIT 500
            """;

    // Evaluated in each planning round: no success has to reset a counter, and a schedule without this policy costs
    // nothing. An edit or a resume starts the count again, because earlier failures belong to the previous definition.
    private static final String FAILING = """
            SELECT s.project, s.name, s.id, s.version, s.pause_after, f.error
              FROM (""" + AUTO_PAUSE_CANDIDATES + """
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

    // Rules newer than the rules of the schedule may move its instants. The query also returns the ticks that lie
    // ahead: if they stay where they are, only the rules version of the schedule is updated. A batch starts after the
    // last row of the batch before: rows that cannot be written stay in the index, and so do the entries of written
    // rows while an old transaction prevents vacuum.
    static final String OUTDATED_TZDATA = "SELECT " + ScheduleRows.COLUMNS + """
              , s.tzdata, carillon.clock() AS now,
              array(SELECT (extract(epoch FROM r.planned_at) * 1000000)::bigint FROM carillon.run r
                     WHERE r.schedule_id = s.id AND r.origin IN ('tick', 'backfill') AND r.origin = 'tick'
                       AND r.planned_at > carillon.clock()
                     ORDER BY r.planned_at) AS ahead
              FROM carillon.schedule s
             WHERE s.tzdata COLLATE "C" < :tzdata AND s.kind <> 'once' AND s.zone <> 'UTC' AND s.zone <> 'Z'
               AND (s.tzdata COLLATE "C", s.id) > (:afterTzdata, :afterId) AND s.id <> ALL (:unreadable::uuid[])
             ORDER BY s.tzdata COLLATE "C", s.id LIMIT 1000
            """;

    // Locks by key, as plans do; another transaction that has locked a schedule is about to change it. The new version
    // invalidates plans that were made with the older rules.
    private static final String UPDATE_TZDATA = """
            WITH locked AS MATERIALIZED (
              SELECT w.* FROM unnest(:projects::text[], :ids::uuid[], :versions::bigint[], :cursors::timestamptz[],
                :nextInstants::timestamptz[])
                     AS w(project, id, version, cursor, next_at)
                CROSS JOIN LATERAL (SELECT 1 FROM carillon.schedule
                                     WHERE project = w.project AND id BETWEEN w.id AND w.id AND cursor = w.cursor
                                       AND version = w.version
                                     ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) s)
            UPDATE carillon.schedule s SET tzdata = :tzdata, next_at = w.next_at, version = s.version + 1
              FROM (SELECT * FROM locked LIMIT cardinality(:ids::uuid[])) w
             WHERE s.project = w.project AND s.id = w.id AND s.cursor = w.cursor AND s.version = w.version
            """;

    // The runs of a schedule do not count toward its own backlog: the run that measures the backlog may be among them.
    static final String ADAPTABLE = "SELECT " + ScheduleRows.COLUMNS + """
              , s.adaptive_backlog, lane.backlog
              FROM carillon.schedule s
              CROSS JOIN LATERAL (
                SELECT count(*) AS backlog
                  FROM (SELECT 1 FROM unnest('{0,1,2,3}'::smallint[]) AS c(priority)
                         CROSS JOIN LATERAL (SELECT name
                           FROM carillon.handlers_in_lane(s.queue, s.project, c.priority) AS name LIMIT 1000) handler
                         CROSS JOIN LATERAL (SELECT 1 FROM carillon.run r
                                              WHERE r.queue = s.queue AND r.project = s.project
                                                AND r.priority = c.priority AND r.target_name = handler.name
                                                AND r.ready_at <= carillon.clock() AND r.owner IS NULL
                                                  AND r.schedule_id IS DISTINCT FROM s.id
                                              ORDER BY r.ready_at LIMIT 10000) waiting
                         LIMIT 10000) head) lane
             WHERE s.adaptive_min IS NOT NULL AND s.paused_at IS NULL AND s.adapted_cursor IS DISTINCT FROM s.cursor
               AND s.cursor <= carillon.clock()
               AND s.id <> ALL (:unreadable::uuid[])
             ORDER BY s.cursor LIMIT 50
            """;

    private static final String ADAPT = """
            UPDATE carillon.schedule
               SET expression = :expression, anchor = cursor, next_at = :next, adapted_cursor = cursor,
                 adaptive_backlog = :backlog
             WHERE project = :project AND id = :id AND version = :version AND cursor = :cursor AND paused_at IS NULL
               AND adapted_cursor IS DISTINCT FROM cursor
            """;

    private static final Logger log = LoggerFactory.getLogger(ScheduleMaintenance.class);
    private final Database database;
    private final ScheduleRepository schedules;
    private final ScheduleRows.UnreadableSchedules unreadableSchedules;

    public ScheduleMaintenance(Database database, ScheduleRepository schedules) {
        this.database = database;
        this.schedules = schedules;
        this.unreadableSchedules = schedules.unreadableSchedules;
    }

    ScheduleRows.UnreadableSchedules unreadable() {
        return unreadableSchedules;
    }

    /** A schedule as it was read, and the pause that it needs; null if its pause is over. */
    private record PauseChange(String project, String name, UUID id, long version, Schedule.@Nullable Pause pause) {
        static PauseChange of(Row row, Schedule.@Nullable Pause pause) throws SQLException {
            return new PauseChange(row.text("project"), row.text("name"), row.uuid("id"), row.number("version"), pause);
        }
    }

    List<Schedule> applyPauseChanges(PlanStore.PlanningWindow planningWindow) {
        List<PauseChange> changes = database.single(session -> {
            List<PauseChange> found = new ArrayList<>(session.query(PAUSES_OVER)
                    .uuids("unreadable", unreadableSchedules.excludedIds())
                    .list(row -> PauseChange.of(row, null)));
            found.addAll(session.query(FAILING)
                    .instant("since", planningWindow.since())
                    .seconds("ahead", planningWindow.lookAhead())
                    .list(row ->
                            PauseChange.of(row, failurePause(row.integer("pause_after"), row.maybeText("error")))));
            return found;
        });
        List<Schedule> changed = new ArrayList<>();
        for (PauseChange pauseChange : changes)
            if (apply(pauseChange))
                schedules.get(pauseChange.project, pauseChange.name).ifPresent(changed::add);
        return changed;
    }

    private record OutdatedSchedule(Schedule schedule, Instant nextAt, boolean ticksMove) {}

    PlanStore.ZoneBatch replanForTimeZones(PlanStore.ZonePosition after) {
        String rules = ScheduleRows.tzdata();
        List<PlanStore.ZonePosition> read = new ArrayList<>();
        List<OutdatedSchedule> older = database
                .single(session -> session.query(OUTDATED_TZDATA)
                        .text("tzdata", rules)
                        .text("afterTzdata", after.tzdata())
                        .uuid("afterId", after.id())
                        .uuids("unreadable", unreadableSchedules.excludedIds())
                        .list(row -> {
                            read.add(new PlanStore.ZonePosition(row.text("tzdata"), row.uuid("id")));
                            Instant now = row.instant("now");
                            List<Long> ahead = row.numbers("ahead");
                            return unreadableSchedules.read(row).map(schedule -> compareTicks(schedule, now, ahead));
                        }))
                .stream()
                .flatMap(Optional::stream)
                .toList();
        List<Schedule> rejected = new ArrayList<>();
        int replanned =
                updateTzdata(rules, older.stream().filter(one -> !one.ticksMove).toList(), rejected);
        for (OutdatedSchedule one : older) {
            if (!one.ticksMove) continue;
            Schedule schedule = one.schedule;
            String project = schedule.definition().project();
            if (!unlessRejected(() -> schedules.replan(project, schedule.name(), schedule.version()), failure -> {
                rejected.add(schedule);
                recordRejected(schedule, failure);
            })) continue;
            replanned++;
            log.info("new time zone rules applied schedule={} project={} tzdata={}", schedule.name(), project, rules);
        }
        return new PlanStore.ZoneBatch(
                read.size(),
                replanned,
                older.size() - replanned - rejected.size(),
                read.isEmpty() ? after : read.get(read.size() - 1));
    }

    /** Compares the ticks that lie ahead with the ticks that the rules of this process produce. */
    private static OutdatedSchedule compareTicks(Schedule schedule, Instant now, List<Long> ahead) {
        When when = schedule.definition().when();
        Instant cursor = schedule.planningState().cursor();
        List<Long> instants = new ArrayList<>();
        Optional<Instant> at = when.next(now);
        while (!schedule.isPaused() && at.isPresent() && !at.get().isAfter(cursor) && instants.size() <= ahead.size()) {
            instants.add(ChronoUnit.MICROS.between(Instant.EPOCH, at.get()));
            at = when.next(at.get());
        }
        Instant next =
                schedule.runsLeft() == 0 ? Instant.MAX : when.next(cursor).orElse(Instant.MAX);
        return new OutdatedSchedule(schedule, next, !instants.equals(ahead));
    }

    /**
     * Updates the rules version of schedules; a group that PostgreSQL rejects is split down to the rejected schedule,
     * which is added to {@code rejected}.
     */
    private int updateTzdata(String rules, List<OutdatedSchedule> same, List<Schedule> rejected) {
        if (same.isEmpty()) return 0;
        List<OutdatedSchedule> ordered = same.stream()
                .sorted(Comparator.comparing(one -> one.schedule.id().value()))
                .toList();
        try {
            return database.single(session -> session.query(UPDATE_TZDATA)
                    .text("tzdata", rules)
                    .column(
                            "projects",
                            "text",
                            ordered,
                            one -> one.schedule.definition().project())
                    .column("ids", "uuid", ordered, one -> one.schedule.id().value())
                    .column("versions", "int8", ordered, one -> one.schedule.version())
                    .column(
                            "cursors",
                            "timestamptz",
                            ordered,
                            one -> one.schedule.planningState().cursor())
                    .column("nextInstants", "timestamptz", ordered, OutdatedSchedule::nextAt)
                    .update());
        } catch (StorageException failure) {
            if (!failure.isRowError()) throw failure;
            int half = ordered.size() / 2;
            if (half > 0)
                return updateTzdata(rules, ordered.subList(0, half), rejected)
                        + updateTzdata(rules, ordered.subList(half, ordered.size()), rejected);
            rejected.add(ordered.get(0).schedule);
            recordRejected(ordered.get(0).schedule, failure);
            return 0;
        }
    }

    int adaptIntervals() {
        record BacklogReading(Schedule schedule, long before, long now) {}
        List<Optional<BacklogReading>> backlogChanges = database.single(session -> session.query(ADAPTABLE)
                .uuids("unreadable", unreadableSchedules.excludedIds())
                .list(row -> {
                    long before = row.number("adaptive_backlog");
                    long now = row.number("backlog");
                    return unreadableSchedules.read(row).map(schedule -> new BacklogReading(schedule, before, now));
                }));
        int followed = 0;
        for (BacklogReading reading :
                backlogChanges.stream().flatMap(Optional::stream).toList())
            if (unlessRejected(reading.schedule, () -> adapt(reading.schedule, reading.before, reading.now)))
                followed++;
        return followed;
    }

    private boolean adapt(Schedule schedule, long before, long now) {
        When when = schedule.definition().when();
        Instant cursor = schedule.planningState().cursor();
        Duration next = requireNonNull(when.adaptive()).next(requireNonNull(when.fixedPeriod()), before, now);
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
                                        : when.withPeriod(next, cursor)
                                                .next(cursor)
                                                .orElse(Instant.MAX))
                        .number("backlog", now)
                        .update()
                == 1);
    }

    private boolean apply(PauseChange change) {
        Optional<Long> seen = Optional.of(change.version);
        return unlessRejected(
                () -> change.pause == null
                        ? schedules.resume(change.project, change.name, seen)
                        : schedules.pause(change.project, change.name, change.pause, seen),
                failure -> unreadableSchedules.add(
                        change.id, change.project + "/" + change.name, String.valueOf(failure.getMessage())));
    }

    private boolean unlessRejected(Schedule schedule, BooleanSupplier change) {
        return unlessRejected(change, failure -> recordRejected(schedule, failure));
    }

    private void recordRejected(Schedule schedule, RuntimeException failure) {
        unreadableSchedules.add(
                schedule.id().value(),
                schedule.definition().project() + "/" + schedule.name(),
                String.valueOf(failure.getMessage()));
    }

    /** Applies a change to one schedule; if it is rejected, other schedules are still planned. */
    private static boolean unlessRejected(BooleanSupplier change, Consumer<RuntimeException> refused) {
        try {
            return change.getAsBoolean();
        } catch (CarillonException refusal) {
            if (refusal.code() == ErrorCode.UNKNOWN_SCHEDULE) return false; // deleted since it was read
            // Locked since it was found free. A later round replans it.
            if (refusal instanceof StorageException failure && failure.isLockTimeout()) return false;
            boolean one = refusal.code() == ErrorCode.SCHEDULE_UNREADABLE
                    || (refusal instanceof StorageException failure && failure.isRowError());
            if (!one) throw refusal;
            refused.accept(refusal);
            return false;
        } catch (IllegalArgumentException | DateTimeException unreadable) {
            refused.accept(unreadable);
            return false;
        }
    }

    private static Schedule.Pause failurePause(int times, @Nullable String error) {
        String last = error == null ? "" : ": " + ErrorText.firstLine(error);
        String why = times == 1 ? "a run failed" : times + " runs in a row failed";
        return new Schedule.Pause(Instant.EPOCH, "carillon", why + last, null);
    }
}
