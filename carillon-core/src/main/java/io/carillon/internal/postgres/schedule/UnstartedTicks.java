package io.carillon.internal.postgres.schedule;

import static java.util.Objects.requireNonNull;

import io.carillon.Stats.RunStats.Count;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.postgres.sql.HistoryInsert;
import io.carillon.internal.postgres.stats.EndedRows;
import io.carillon.internal.schedule.InstantRange;
import io.carillon.internal.schedule.TickPlan;
import io.carillon.internal.store.stats.EndingCounter;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.ScheduleDefinition;
import io.carillon.schedule.ScheduleId;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What an edit does to ticks that exist. T is the current time or, if it is later, the latest instant that has started
 * or ended. Ticks up to T keep the old definition. Unstarted ticks after T are deleted and planned again by the new
 * definition. If the schedule is paused or deleted, no tick is planned again, and the unstarted ticks up to T end with
 * a ledger entry.
 */
final class UnstartedTicks {
    private final EndedRows endedRows;

    UnstartedTicks(EndedRows endedRows) {
        this.endedRows = endedRows;
    }

    // While these rows are locked, no other transaction starts or cancels them: T no longer changes.
    private static final String LOCK_UNSTARTED = """
            SELECT count(*) FROM (
              SELECT 1 FROM carillon.run
               WHERE schedule_id = ANY (:ids::uuid[]) AND origin = 'tick' AND owner IS NULL
                 AND (attempt = 0 OR start_by < 'infinity')
                 ORDER BY id FOR UPDATE) held
            """;

    // A pause whose end has passed ended at that instant. Every instant with a ledger entry counts, so that no instant
    // gets a second entry: for example a tick that was cancelled before it was due or, after the clock was set back, a
    // gap that lies ahead.
    private static final String CUTOFF = """
            SELECT w.id, greatest(least(carillon.clock(), w.until),
                     (SELECT max(planned_at) FROM carillon.run
                       WHERE schedule_id = w.id AND origin IN ('tick', 'backfill') AND attempt > 0
                         AND (owner IS NOT NULL OR start_by = 'infinity')),
                     (SELECT max(planned_at) FROM carillon.run_history
                       WHERE schedule_id = w.id AND origin IN ('tick', 'backfill')
                         AND day >= (carillon.clock() AT TIME ZONE 'UTC')::date - 1),
                     (SELECT max(to_at) FROM carillon.ledger_gap
                       WHERE schedule_id = w.id AND day >= (carillon.clock() AT TIME ZONE 'UTC')::date - 1)) AS cutoff
              FROM unnest(:ids::uuid[], :untils::timestamptz[]) AS w(id, until)
            """;

    // The cutoff is looked up for each row: a join that was planned for an empty table reads all runs when it is full.
    private static final String DELETE_AFTER_CUTOFF = """
            WITH deleted AS (
              DELETE FROM carillon.run
               WHERE schedule_id = ANY (:ids::uuid[]) AND origin = 'tick' AND owner IS NULL
                 AND (attempt = 0 OR start_by < 'infinity')
                 AND planned_at > (:cutoffs::timestamptz[])[array_position(:ids::uuid[], schedule_id)]
              RETURNING schedule_id)
            SELECT schedule_id, count(*) AS ticks FROM deleted GROUP BY schedule_id
            """;

    private static final String MOVE_CURSOR = """
            UPDATE carillon.schedule
               SET cursor = (:cutoffs::timestamptz[])[array_position(:ids::uuid[], id)],
                   adapted_cursor = (:cutoffs::timestamptz[])[array_position(:ids::uuid[], id)],
                   ticks = ticks - (:deletedTicks::bigint[])[array_position(:ids::uuid[], id)]
             WHERE project = :project AND id = ANY (:ids::uuid[])
            """;

    private static final String END_UNSTARTED = """
            WITH deleted AS (
              DELETE FROM carillon.run
               WHERE schedule_id = ANY (:ids::uuid[]) AND origin IN ('tick', 'backfill') AND origin = :origin
                 AND owner IS NULL AND (attempt = 0 OR start_by < 'infinity') RETURNING *)
            """
            + HistoryInsert.of("deleted", ":state")
                    .with("reason", ":reason")
                    .from("deleted RETURNING " + EndedRows.COLUMNS);

    private static final String INSERT_GAP = """
            INSERT INTO carillon.ledger_gap (project, schedule_id, from_at, to_at, day, count, state, reason, version)
            SELECT :project, g.id, g.from_at, g.to_at, (g.to_at AT TIME ZONE 'UTC')::date, g.count, g.state, g.reason,
                   g.version
              FROM unnest(:ids::uuid[], :froms::timestamptz[], :tos::timestamptz[], :counts::bigint[], :states::text[],
                          :reasons::text[], :versions::bigint[])
                   AS g(id, from_at, to_at, count, state, reason, version)
            """;

    private static final String NOTIFY_FIRST_TICK = """
            SELECT pg_notify('carillon', 'work ' || :queue || ' ' || :project || ' '
              || (extract(epoch FROM :first::timestamptz) * 1000)::bigint)
            """;

    /** The state and reason in the ledger of instants without a run. */
    record LedgerReason(String state, String reason) {
        static final LedgerReason PAUSED = new LedgerReason("skipped", "paused");
        static final LedgerReason EXCLUDED = new LedgerReason("skipped", TickPlan.LedgerGap.EXCLUDED);
        static final LedgerReason DELETED = new LedgerReason("cancelled", "schedule deleted");
        static final LedgerReason UNREADABLE = new LedgerReason("missed", "definition could not be read");
    }

    /** A schedule as it was before the lock, and its instants that were not planned by then. */
    record UnplannedRange(Schedule schedule, InstantRange range) {
        /** Returns this range, or an empty range if the schedule was not read before it was locked. */
        static UnplannedRange orEmpty(Optional<UnplannedRange> unplanned, Schedule schedule) {
            return unplanned.orElseGet(() -> new UnplannedRange(
                    schedule, InstantRange.after(schedule.planningState().cursor())));
        }

        /** Returns the range up to T; reuses this range if the schedule has not changed. */
        private InstantRange upTo(Schedule now, Instant cutoff) {
            Instant last = range.last();
            boolean same = now.version() == schedule.version()
                    && now.planningState().cursor().equals(range.after())
                    && (last == null || !last.isAfter(cutoff));
            InstantRange known =
                    same ? range : InstantRange.after(now.planningState().cursor());
            return known.extendTo(cutoff, now.definition().when());
        }
    }

    /** Returns T. From now until the end of the transaction no tick of this schedule starts. */
    Instant cutoff(Session session, Schedule schedule) throws SQLException {
        return requireNonNull(cutoffs(session, List.of(schedule)).get(schedule.id()));
    }

    /** Returns T of each of these schedules. From now until the end of the transaction none of their ticks starts. */
    Map<ScheduleId, Instant> cutoffs(Session session, List<Schedule> schedules) throws SQLException {
        session.query(LOCK_UNSTARTED).uuids("ids", ids(schedules)).list(row -> row);
        Map<ScheduleId, Instant> cutoffs = new HashMap<>();
        session.query(CUTOFF)
                .uuids("ids", ids(schedules))
                .column("untils", "timestamptz", schedules, UnstartedTicks::endOfPause)
                .list(row -> cutoffs.put(new ScheduleId(row.uuid("id")), row.instant("cutoff")));
        return cutoffs;
    }

    private static @Nullable Instant endOfPause(Schedule schedule) {
        Schedule.Pause pause = schedule.pause();
        return pause == null ? null : pause.lastInstant();
    }

    private static List<UUID> ids(List<Schedule> schedules) {
        return schedules.stream().map(schedule -> schedule.id().value()).toList();
    }

    /** Deletes the unstarted ticks after T and sets the cursor to T; the caller accounts for all instants before T. */
    void deleteAfter(Session session, Schedule schedule, Instant cutoff) throws SQLException {
        deleteAfter(session, List.of(schedule), Map.of(schedule.id(), cutoff));
    }

    /** Like {@link #deleteAfter(Session, Schedule, Instant)}, for several schedules of a project. */
    void deleteAfter(Session session, List<Schedule> schedules, Map<ScheduleId, Instant> cutoffs) throws SQLException {
        Map<UUID, Long> deleted = new HashMap<>();
        session.query(DELETE_AFTER_CUTOFF)
                .uuids("ids", ids(schedules))
                .column("cutoffs", "timestamptz", schedules, schedule -> cutoffs.get(schedule.id()))
                .list(row -> deleted.put(row.uuid("schedule_id"), row.number("ticks")));
        session.query(MOVE_CURSOR)
                .text("project", schedules.get(0).definition().project())
                .uuids("ids", ids(schedules))
                .column("cutoffs", "timestamptz", schedules, schedule -> cutoffs.get(schedule.id()))
                .column(
                        "deletedTicks",
                        "int8",
                        schedules,
                        schedule -> deleted.getOrDefault(schedule.id().value(), 0L))
                .update();
    }

    /** Ends the unstarted ticks up to T. */
    void endUnstarted(Session session, List<Schedule> schedules, LedgerReason reason) throws SQLException {
        endUnstarted(session, schedules, reason, "tick");
    }

    /**
     * Ends the unstarted backfill runs; a concurrent claim takes a run before this statement, or does not
     * find it after.
     */
    void endBackfills(Session session, Schedule schedule, LedgerReason reason) throws SQLException {
        endUnstarted(session, List.of(schedule), reason, "backfill");
    }

    private void endUnstarted(Session session, List<Schedule> schedules, LedgerReason reason, String origin)
            throws SQLException {
        Query end = session.query(END_UNSTARTED)
                .uuids("ids", ids(schedules))
                .text("origin", origin)
                .text("state", reason.state)
                .text("reason", reason.reason);
        endedRows.count(session, end, countOf(reason.state));
    }

    /** A ledger gap of a schedule that is locked. */
    private record ScheduleGap(Schedule schedule, TickPlan.LedgerGap gap) {}

    /**
     * Records the instants from the cursor up to T that were never planned; the range that was computed before the
     * lock is not computed again. In a pause the reason is the pause; otherwise instants on excluded dates are
     * recorded as excluded.
     */
    void recordGaps(Session session, Schedule schedule, UnplannedRange unplanned, Instant cutoff, LedgerReason reason)
            throws SQLException {
        insertGaps(session, gaps(schedule, unplanned, cutoff, reason));
    }

    /**
     * Records gaps like {@link #recordGaps(Session, Schedule, UnplannedRange, Instant, LedgerReason)}, for several
     * schedules of a project that are not paused, without a range that was computed before.
     */
    void recordGaps(Session session, List<Schedule> schedules, Map<ScheduleId, Instant> cutoffs, LedgerReason reason)
            throws SQLException {
        List<ScheduleGap> all = new ArrayList<>();
        for (Schedule schedule : schedules)
            all.addAll(gaps(
                    schedule,
                    UnplannedRange.orEmpty(Optional.empty(), schedule),
                    requireNonNull(cutoffs.get(schedule.id())),
                    reason));
        insertGaps(session, all);
    }

    private static List<ScheduleGap> gaps(
            Schedule schedule, UnplannedRange unplanned, Instant cutoff, LedgerReason reason) {
        if (schedule.runsLeft() == 0) return List.of();
        boolean whole = schedule.isPaused()
                || schedule.definition().when().bounds().excluded().isEmpty();
        List<TickPlan.LedgerGap> gaps = schedule.unreadable() != null
                ? unreadableGap(schedule, cutoff, reason)
                : whole
                        ? unplanned.upTo(schedule, cutoff).toGaps(reason.state, reason.reason)
                        : InstantRange.gapsBetween(
                                schedule.definition().when(),
                                schedule.planningState().cursor(),
                                cutoff,
                                reason.state,
                                reason.reason);
        return gaps.stream().map(gap -> new ScheduleGap(schedule, gap)).toList();
    }

    private void insertGaps(Session session, List<ScheduleGap> gaps) throws SQLException {
        if (gaps.isEmpty()) return;
        session.query(INSERT_GAP)
                .text("project", gaps.get(0).schedule.definition().project())
                .column("ids", "uuid", gaps, one -> one.schedule.id().value())
                .column("froms", "timestamptz", gaps, one -> one.gap.from())
                .column("tos", "timestamptz", gaps, one -> one.gap.to())
                .column("counts", "int8", gaps, one -> one.gap.count())
                .column("states", "text", gaps, one -> one.gap.state())
                .column("reasons", "text", gaps, one -> one.gap.reason())
                .column("versions", "int8", gaps, one -> one.schedule.version())
                .update();
        for (ScheduleGap one : gaps)
            endedRows.count(session, seriesOf(one.schedule), countOf(one.gap.state()), one.gap.count());
    }

    /** Returns what is counted for a state of the ledger. */
    static Count countOf(String state) {
        return switch (state) {
            case "skipped" -> Count.SKIPPED;
            case "missed" -> Count.MISSED;
            default -> Count.CANCELLED;
        };
    }

    /** Returns what the instants of a schedule are counted as. */
    static EndingCounter.Series seriesOf(Schedule schedule) {
        ScheduleDefinition definition = schedule.definition();
        return new EndingCounter.Series(
                definition.project(),
                definition.template().queue(),
                definition.template().targetName());
    }

    /**
     * Returns the gap of a schedule that cannot be read. Only its next instant is known; it stands for all instants up
     * to T.
     */
    private static List<TickPlan.LedgerGap> unreadableGap(Schedule schedule, Instant cutoff, LedgerReason reason) {
        Instant next = schedule.planningState().nextAt();
        if (next.isAfter(cutoff) || !next.isAfter(schedule.planningState().cursor())) return List.of();
        return List.of(new TickPlan.LedgerGap(next, cutoff, 1, reason.state, reason.reason));
    }

    /** Sends a notification with the transaction, so that a sleeping node learns of the new first tick. */
    void notifyFirstTick(Session session, TickPlan plan) throws SQLException {
        Optional<Instant> first =
                plan.ticks().stream().map(TickPlan.Tick::dueAt).min(Instant::compareTo);
        if (first.isEmpty()) return;
        session.query(NOTIFY_FIRST_TICK)
                .text("queue", plan.schedule().definition().template().queue())
                .text("project", plan.schedule().definition().project())
                .instant("first", first.get())
                .list(row -> row);
    }

    /** Counts the skipped and missed instants of written plans for the statistics. Returns the plans. */
    static List<TickPlan> counted(Session session, List<TickPlan> written, EndedRows endedRows) {
        for (TickPlan plan : written) {
            EndingCounter.Series series = seriesOf(plan.schedule());
            for (TickPlan.LedgerGap gap : plan.gaps())
                endedRows.count(session, series, countOf(gap.state()), gap.count());
            long missed = plan.lateDecisions().stream()
                    .filter(decision -> !decision.runsLate())
                    .count();
            endedRows.count(session, series, Count.MISSED, missed);
        }
        return written;
    }
}
