package io.carillon.internal.postgres.schedule;

import io.carillon.internal.jdbc.Session;
import io.carillon.internal.schedule.InstantRange;
import io.carillon.internal.schedule.TickPlan;
import io.carillon.run.RunId;
import io.carillon.schedule.LedgerEntry;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.When;
import java.sql.SQLException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** The ledger as it is read: ended runs, live runs, and ranges without runs. */
final class LedgerRows {
    private static final String LEDGER = """
            SELECT planned_at AS from_at, planned_at AS to_at, 1 AS count, state, reason, id, started_at
              FROM carillon.run_history
             WHERE schedule_id = :id AND planned_at BETWEEN :from AND :to AND origin IN ('tick', 'backfill')
            UNION ALL
            SELECT planned_at, planned_at, 1, CASE WHEN owner IS NULL THEN 'waiting'
              ELSE 'running' END, parked, id, started_at FROM carillon.run
             WHERE schedule_id = :id AND planned_at BETWEEN :from AND :to AND origin IN ('tick', 'backfill')
            UNION ALL
            SELECT from_at, to_at, count, state, reason, NULL, NULL FROM carillon.ledger_gap
             WHERE schedule_id = :id AND from_at <= :to AND to_at >= :from
             ORDER BY 1 LIMIT 10000
            """;

    // Both use the index of planned instants backwards: one step into each day that is kept.
    private static final String LAST_RUNS = """
            SELECT s.id AS schedule, last.* FROM unnest(:ids::uuid[]) s(id)
             CROSS JOIN LATERAL (
               SELECT * FROM (
                 (SELECT id AS run, 'running' AS state, planned_at, started_at, NULL::timestamptz AS ended_at
                   FROM carillon.run
                   WHERE schedule_id = s.id AND origin IN ('tick', 'backfill') AND started_at IS NOT NULL
                     AND owner IS NOT NULL ORDER BY planned_at DESC LIMIT 1)
                 UNION ALL
                 (SELECT id, state, planned_at, started_at, ended_at FROM carillon.run_history
                   WHERE schedule_id = s.id AND origin IN ('tick', 'backfill') AND started_at IS NOT NULL
                     ORDER BY planned_at DESC LIMIT 1)) one
                ORDER BY planned_at DESC LIMIT 1) last
            """;

    static Map<UUID, Schedule.LastRun> lastRuns(Session session, List<UUID> ids) throws SQLException {
        Map<UUID, Schedule.LastRun> found = new HashMap<>();
        session.query(LAST_RUNS)
                .column("ids", "uuid", ids, id -> id)
                .list(row -> found.put(
                        row.uuid("schedule"),
                        new Schedule.LastRun(
                                row.uuid("run"),
                                row.text("state"),
                                row.instant("planned_at"),
                                row.instant("started_at"),
                                row.maybeInstant("ended_at"))));
        return found;
    }

    /** Returns past instants that get their ledger entry when the pause or the excluded dates are over. */
    static List<LedgerEntry> unrecordedEntries(Schedule schedule, Instant from, Instant to, Instant now) {
        When when = schedule.definition().when();
        Schedule.Pause pause = schedule.pause();
        if (schedule.runsLeft() == 0
                || (pause == null && when.bounds().excluded().isEmpty())) return List.of();
        Instant cursor = schedule.planningState().cursor();
        Instant last = pause == null ? schedule.planningState().nextAt().minusNanos(1) : pause.lastInstant();
        Instant end = last == null || last.isAfter(now) ? now : last;
        InstantRange range = InstantRange.after(cursor.isBefore(from) ? from.minusNanos(1) : cursor)
                .extendTo(to.isBefore(end) ? to : end, when);
        return range.toGaps("skipped", pause == null ? TickPlan.LedgerGap.EXCLUDED : "paused").stream()
                .map(ledgerGap -> new LedgerEntry(
                        ledgerGap.from(),
                        ledgerGap.to(),
                        ledgerGap.count(),
                        ledgerGap.state(),
                        ledgerGap.reason(),
                        null,
                        null))
                .toList();
    }

    List<LedgerEntry> read(Session session, Schedule schedule, Instant from, Instant to) throws SQLException {
        return session.query(LEDGER)
                .uuid("id", schedule.id().value())
                .instant("from", from)
                .instant("to", to)
                .list(row -> {
                    UUID run = row.maybeUuid("id");
                    return new LedgerEntry(
                            row.instant("from_at"),
                            row.instant("to_at"),
                            row.number("count"),
                            row.text("state"),
                            row.maybeText("reason"),
                            run == null ? null : new RunId(run),
                            row.maybeInstant("started_at"));
                });
    }
}
