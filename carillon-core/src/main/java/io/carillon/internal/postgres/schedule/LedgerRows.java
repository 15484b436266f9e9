package io.carillon.internal.postgres.schedule;

import io.carillon.internal.jdbc.Session;
import io.carillon.internal.schedule.InstantRange;
import io.carillon.internal.schedule.TickPlan;
import io.carillon.internal.store.schedule.LedgerRange;
import io.carillon.run.RunId;
import io.carillon.schedule.LedgerEntry;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.When;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** The ledger as it is read: ended runs, live runs, and ranges without runs. */
final class LedgerRows {
    // The start of the first attempt. Only runs with several attempts are looked up.
    private static final String FIRST_START = """
            CASE WHEN r.attempt < 2 AND r.started_at IS NOT NULL OR r.attempt = 0 THEN r.started_at
              ELSE coalesce((SELECT min(a.started_at) FROM carillon.attempt a
                              WHERE a.project = r.project AND a.run_id = r.id), r.started_at) END AS started_at
            """;

    private static final String ENDED = """
            SELECT r.planned_at AS from_at, r.planned_at AS to_at, 1 AS count, r.state, r.reason, r.id, r.ended_at,
            """ + FIRST_START + """
              FROM carillon.run_history r
             WHERE r.schedule_id = :id AND r.planned_at BETWEEN :from AND :to AND r.origin IN ('tick', 'backfill')
            """;

    private static final String LIVE = """
            SELECT r.planned_at AS from_at, r.planned_at AS to_at, 1 AS count,
              CASE WHEN r.owner IS NULL THEN 'waiting' ELSE 'running' END AS state, r.parked AS reason, r.id,
              NULL::timestamptz AS ended_at,
            """ + FIRST_START + """
              FROM carillon.run r
             WHERE r.schedule_id = :id AND r.planned_at BETWEEN :from AND :to AND r.origin IN ('tick', 'backfill')
            """;

    private static final String GAPS = """
            SELECT from_at, to_at, count, state, reason, NULL::uuid AS id, NULL::timestamptz AS ended_at,
              NULL::timestamptz AS started_at
              FROM carillon.ledger_gap
             WHERE schedule_id = :id AND from_at <= :to AND to_at >= :from
            """;

    private static final String LEDGER =
            ENDED + " UNION ALL " + LIVE + " UNION ALL " + GAPS + " ORDER BY from_at LIMIT :limit";

    // Each part reads its index backwards and stops at the limit.
    private static final String LATEST = "SELECT * FROM ((" + ENDED + " ORDER BY r.planned_at DESC LIMIT :limit)"
            + " UNION ALL (" + LIVE + " ORDER BY r.planned_at DESC LIMIT :limit)"
            + " UNION ALL (" + GAPS + " ORDER BY from_at DESC LIMIT :limit)) entry"
            + " ORDER BY from_at DESC LIMIT :limit";

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
                        null,
                        null))
                .toList();
    }

    /** Returns the entries of a range in their order: the first ones, or the last ones if {@code latest} is set. */
    List<LedgerEntry> read(Session session, Schedule schedule, LedgerRange range) throws SQLException {
        List<LedgerEntry> entries = session.query(range.latest() ? LATEST : LEDGER)
                .uuid("id", schedule.id().value())
                .instant("from", range.from())
                .instant("to", range.to())
                .number("limit", range.limit())
                .list(row -> {
                    UUID run = row.maybeUuid("id");
                    return new LedgerEntry(
                            row.instant("from_at"),
                            row.instant("to_at"),
                            row.number("count"),
                            row.text("state"),
                            row.maybeText("reason"),
                            run == null ? null : new RunId(run),
                            row.maybeInstant("started_at"),
                            row.maybeInstant("ended_at"));
                });
        return entries.stream().sorted(Comparator.comparing(LedgerEntry::from)).toList();
    }
}
