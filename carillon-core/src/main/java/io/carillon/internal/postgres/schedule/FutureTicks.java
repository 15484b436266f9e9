package io.carillon.internal.postgres.schedule;

import io.carillon.internal.jdbc.Session;
import io.carillon.internal.postgres.sql.HistoryInsert;
import io.carillon.internal.schedule.InstantRange;
import io.carillon.internal.schedule.TickPlan;
import io.carillon.schedule.Schedule;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What an edit does to ticks that exist. T is the current time or, if it is later, the latest instant that has started
 * or ended. Ticks up to T keep the old definition. Unstarted ticks after T are deleted and planned again by the new
 * definition. If the schedule is paused or deleted, no tick is planned again, and the unstarted ticks up to T end with
 * a ledger entry.
 */
final class FutureTicks {
    // While these rows are locked, no other transaction starts or cancels them: T no longer changes.
    private static final String LOCK_UNSTARTED = """
            SELECT count(*) FROM (
              SELECT 1 FROM carillon.run
               WHERE schedule_id = :id AND origin = 'tick' AND owner IS NULL AND (attempt = 0 OR start_by < 'infinity')
                 ORDER BY id FOR UPDATE) held
            """;

    // A pause whose end has passed ended at that instant. Every instant with a ledger entry counts, so that no instant
    // gets a second entry: for example a tick that was cancelled before it was due or, after the clock was set back, a
    // gap that lies ahead.
    private static final String CUTOFF = """
            SELECT greatest(least(carillon.clock(), :until::timestamptz),
                     (SELECT max(planned_at) FROM carillon.run
                       WHERE schedule_id = :id AND origin IN ('tick', 'backfill') AND attempt > 0
                         AND (owner IS NOT NULL OR start_by = 'infinity')),
                     (SELECT max(planned_at) FROM carillon.run_history
                       WHERE schedule_id = :id AND origin IN ('tick', 'backfill')
                         AND day >= (carillon.clock() AT TIME ZONE 'UTC')::date - 1),
                     (SELECT max(to_at) FROM carillon.ledger_gap
                       WHERE schedule_id = :id AND day >= (carillon.clock() AT TIME ZONE 'UTC')::date - 1)) AS cutoff
            """;

    private static final String DELETE_AFTER_CUTOFF = """
            DELETE FROM carillon.run
             WHERE schedule_id = :id AND origin = 'tick' AND owner IS NULL AND (attempt = 0 OR start_by < 'infinity')
               AND planned_at > :cutoff
            """;

    private static final String MOVE_CURSOR = """
            UPDATE carillon.schedule SET cursor = :cutoff, adapted_cursor = :cutoff, ticks = ticks - :deletedTicks
              WHERE project = :project AND id = :id
            """;

    private static final String END_UNSTARTED = """
            WITH deleted AS (
              DELETE FROM carillon.run
               WHERE schedule_id = :id AND origin IN ('tick', 'backfill') AND origin = :origin AND owner IS NULL
                 AND (attempt = 0 OR start_by < 'infinity') RETURNING *)
            """
            + HistoryInsert.of("deleted", ":state").with("reason", ":reason").from("deleted");

    private static final String INSERT_GAP = """
            INSERT INTO carillon.ledger_gap (project, schedule_id, from_at, to_at, day, count, state, reason, version)
            VALUES (:project, :id, :from, :to, (:to::timestamptz AT TIME ZONE 'UTC')::date, :count, :state, :reason,
              :version)
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
        session.query(LOCK_UNSTARTED).uuid("id", schedule.id().value()).list(row -> row);
        Schedule.Pause pause = schedule.pause();
        return session.query(CUTOFF)
                .uuid("id", schedule.id().value())
                .instant("until", pause == null ? null : pause.lastInstant())
                .first(row -> row.instant("cutoff"))
                .orElseThrow();
    }

    /** Deletes the unstarted ticks after T and sets the cursor to T; the caller accounts for all instants before T. */
    void deleteAfter(Session session, Schedule schedule, Instant cutoff) throws SQLException {
        int deleted = session.query(DELETE_AFTER_CUTOFF)
                .uuid("id", schedule.id().value())
                .instant("cutoff", cutoff)
                .update();
        session.query(MOVE_CURSOR)
                .text("project", schedule.definition().project())
                .uuid("id", schedule.id().value())
                .instant("cutoff", cutoff)
                .number("deletedTicks", deleted)
                .update();
    }

    /** Ends the unstarted ticks up to T. */
    void endUnstarted(Session session, Schedule schedule, LedgerReason reason) throws SQLException {
        endUnstarted(session, schedule, reason, "tick");
    }

    /**
     * Ends the unstarted backfill runs; a concurrent claim takes a run before this statement, or does not
     * find it after.
     */
    void endBackfills(Session session, Schedule schedule, LedgerReason reason) throws SQLException {
        endUnstarted(session, schedule, reason, "backfill");
    }

    private static void endUnstarted(Session session, Schedule schedule, LedgerReason reason, String origin)
            throws SQLException {
        session.query(END_UNSTARTED)
                .uuid("id", schedule.id().value())
                .text("origin", origin)
                .text("state", reason.state)
                .text("reason", reason.reason)
                .update();
    }

    /**
     * Records the instants from the cursor up to T that were never planned; the range that was computed before the
     * lock is not computed again. In a pause the reason is the pause; otherwise instants on excluded dates are
     * recorded as excluded.
     */
    void recordGaps(Session session, Schedule schedule, UnplannedRange unplanned, Instant cutoff, LedgerReason reason)
            throws SQLException {
        if (schedule.runsLeft() == 0) return;
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
        for (TickPlan.LedgerGap ledgerGap : gaps)
            session.query(INSERT_GAP)
                    .text("project", schedule.definition().project())
                    .uuid("id", schedule.id().value())
                    .instant("from", ledgerGap.from())
                    .instant("to", ledgerGap.to())
                    .number("count", ledgerGap.count())
                    .text("state", ledgerGap.state())
                    .text("reason", ledgerGap.reason())
                    .number("version", schedule.version())
                    .update();
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
}
