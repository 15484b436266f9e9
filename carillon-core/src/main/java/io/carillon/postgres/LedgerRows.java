package io.carillon.postgres;

import io.carillon.run.RunId;
import io.carillon.schedule.Schedule;
import io.carillon.store.LedgerEntry;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

/** Reads the ledger: runs that ended, runs that live, and stretches without runs. */
final class LedgerRows {
    private static final String LEDGER = """
            SELECT planned_at AS from_at, planned_at AS to_at, 1 AS count, state, reason, id, started_at FROM carillon.run_history
             WHERE schedule_id = :id AND planned_at BETWEEN :from AND :to AND origin IN ('tick', 'backfill')
               AND day BETWEEN (:from::timestamptz AT TIME ZONE 'UTC')::date AND (:to::timestamptz AT TIME ZONE 'UTC')::date
            UNION ALL
            SELECT planned_at, planned_at, 1, CASE WHEN owner IS NULL THEN 'waiting' ELSE 'running' END, parked, id, started_at FROM carillon.run
             WHERE schedule_id = :id AND planned_at BETWEEN :from AND :to AND origin IN ('tick', 'backfill')
            UNION ALL
            SELECT from_at, to_at, count, state, reason, NULL, NULL FROM carillon.ledger_gap
             WHERE schedule_id = :id AND from_at <= :to AND to_at >= :from
             ORDER BY 1 LIMIT 10000
            """;

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
