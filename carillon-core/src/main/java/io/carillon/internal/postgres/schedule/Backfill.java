package io.carillon.internal.postgres.schedule;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.postgres.sql.RunInsert;
import io.carillon.internal.value.Uuid7;
import io.carillon.run.Priority;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.When;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The past instants of a schedule that have no ledger entry, and the runs that a backfill creates for them. */
final class Backfill {
    private static final int MAX_INSTANTS = 100_000;
    private static final int MAX_RUNS = 10_000;

    private static final String COVERED_RANGES = """
            SELECT planned_at AS from_at, planned_at AS to_at FROM carillon.run_history
             WHERE schedule_id = :id AND planned_at BETWEEN :from AND :to AND origin IN ('tick', 'backfill')
            UNION ALL
            SELECT planned_at, planned_at FROM carillon.run
             WHERE schedule_id = :id AND planned_at BETWEEN :from AND :to AND origin IN ('tick', 'backfill')
            UNION ALL
            SELECT from_at, to_at FROM carillon.ledger_gap WHERE schedule_id = :id AND from_at <= :to AND to_at >= :from
             ORDER BY 1
            """;

    // The history entry of a backfilled run belongs to the day of the request, because the partition of the instant's
    // day may have been dropped. The run waits behind the gate of its schedule, in the order of the instants, and is
    // never skipped there.
    private static final String INSERT = RunInsert.of("s", "t.id", "'backfill'", "carillon.clock()")
            .ofSchedule("s", "t.planned_at")
            .with("priority", ":priority")
            .with("planned_at", "t.planned_at")
            .from("""
              carillon.schedule s
              CROSS JOIN unnest(:ids::uuid[], :planned::timestamptz[]) AS t(id, planned_at)
             WHERE s.project = :project AND s.id = :id
            ON CONFLICT DO NOTHING
            """);

    // Every instant since the schedule was created had a ledger entry on its day. If that day has no partition, the
    // entry was dropped with it, or went to a later day because the partition had been dropped already: it is unknown
    // whether the instant ran.
    private static final String DROPPED_HISTORY = """
            SELECT count(*) AS instants, min(t.planned_at) AS first, max(t.planned_at) AS last
              FROM carillon.schedule s
              CROSS JOIN unnest(:planned::timestamptz[]) AS t(planned_at)
             WHERE s.project = :project AND s.id = :id AND t.planned_at >= s.created_at
               AND (t.planned_at AT TIME ZONE 'UTC')::date NOT IN (
                     SELECT to_date(right(c.relname, 8), 'YYYYMMDD')
                       FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                      WHERE i.inhparent = 'carillon.run_history'::regclass AND NOT i.inhdetachpending
                        AND c.relname ~ '^run_history_[0-9]{8}$')
            """;

    private record CoveredRange(Instant from, Instant to) {}

    private Backfill() {}

    /**
     * Returns the planned instants without a ledger entry. The caller holds the schedule's lock, so no other
     * transaction adds entries for instants up to the cursor.
     */
    static List<Instant> missingInstants(Session session, Schedule schedule, Instant from, Instant to)
            throws SQLException {
        Instant cursor = schedule.planningState().cursor();
        List<Instant> instants = instants(schedule, from, to.isBefore(cursor) ? to : cursor);
        if (instants.isEmpty()) return instants;
        List<CoveredRange> covered = session.query(COVERED_RANGES)
                .uuid("id", schedule.id().value())
                .instant("from", instants.get(0))
                .instant("to", instants.get(instants.size() - 1))
                .list(row -> new CoveredRange(row.instant("from_at"), row.instant("to_at")));
        List<Instant> missing = new ArrayList<>();
        int next = 0;
        for (Instant instant : instants) {
            while (next < covered.size() && covered.get(next).to.isBefore(instant)) next++;
            if (next == covered.size() || covered.get(next).from.isAfter(instant)) missing.add(instant);
        }
        if (missing.size() > MAX_RUNS)
            throw tooMany(schedule, "%d runs exceed the %d".formatted(missing.size(), MAX_RUNS));
        return missing;
    }

    /** Rejects instants whose history was dropped: they may have run although they have no ledger entry. */
    static void rejectDroppedHistory(Session session, Schedule schedule, List<Instant> instants) throws SQLException {
        if (instants.isEmpty()) return;
        Optional<String> dropped = session.query(DROPPED_HISTORY)
                .text("project", schedule.definition().project())
                .uuid("id", schedule.id().value())
                .column("planned", "timestamptz", instants, instant -> instant)
                .first(row -> row.number("instants") == 0
                        ? ""
                        : "%d instants from %s to %s"
                                .formatted(row.number("instants"), row.instant("first"), row.instant("last")));
        if (dropped.orElse("").isEmpty()) return;
        throw new CarillonException(
                ErrorCode.HISTORY_DROPPED,
                ("The history of %s of schedule '%s' has been dropped, so it is unknown whether they ran."
                                + " Choose a later range, or run them anyway with DroppedHistoryPolicy.RUN"
                                + " (--dropped-history run).")
                        .formatted(dropped.get(), schedule.name()));
    }

    private static List<Instant> instants(Schedule schedule, Instant from, Instant to) {
        When when = schedule.definition().when();
        List<Instant> instants = new ArrayList<>();
        Optional<Instant> at = when.next(from.equals(Instant.MIN) ? from : from.minusNanos(1));
        while (at.isPresent() && !at.get().isAfter(to)) {
            if (instants.size() == MAX_INSTANTS)
                throw tooMany(schedule, "The range contains more than the %d instants".formatted(MAX_INSTANTS));
            instants.add(at.get());
            at = when.next(at.get());
        }
        return instants;
    }

    static int insert(Session session, Schedule schedule, List<Instant> instants, Instant now) throws SQLException {
        if (instants.isEmpty()) return 0;
        return session.query(INSERT)
                .text("project", schedule.definition().project())
                .uuid("id", schedule.id().value())
                .number("priority", Priority.BULK.number())
                .column("ids", "uuid", instants, instant -> Uuid7.at(now))
                .column("planned", "timestamptz", instants, instant -> instant)
                .update();
    }

    private static CarillonException tooMany(Schedule schedule, String what) {
        return new CarillonException(
                ErrorCode.INVALID_OPTION,
                "%s allowed for one backfill of schedule '%s'. Choose a shorter range."
                        .formatted(what, schedule.name()));
    }
}
