package io.carillon.internal.postgres.vitals;

import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.run.Lane;
import io.carillon.internal.store.DatabaseVitals;
import io.carillon.internal.store.DatabaseVitals.OldTransaction;
import io.carillon.internal.store.VitalsStore;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The state of the system, read in a few queries, each bounded by an index or a limit. They use a connection of the
 * pool, so that an exhausted pool is noticed.
 */
public final class VitalsRepository implements VitalsStore {
    static final String JIT = """
            CASE WHEN current_setting('jit')::bool AND current_setting('jit_above_cost')::float8 >= 0
                 THEN current_setting('jit_above_cost')::float8 END AS jit
            """;

    // A missed instant is a row of the history if a tick existed, and part of a ledger gap if none did.
    private static final String MISSED = """
            (SELECT project, schedule_id, count AS instants FROM carillon.ledger_gap
              WHERE state = 'missed' AND created_at > carillon.clock() - interval '1 hour'
             UNION ALL
             SELECT project, schedule_id, 1 FROM carillon.run_history
              WHERE state = 'missed' AND ended_at > carillon.clock() - interval '1 hour') missed
            """;

    // Paused lanes wait on purpose. Of long-running runs only parked rows are read: there are few, and they
    // have an index.
    private static final String READ = """
            SELECT carillon.clock() AS now,\s""" + JIT + """
                   , (SELECT min(head.ready_at)
                      FROM (SELECT queue, project, ready_at, owner FROM carillon.run
                             WHERE ready_at < 'infinity' ORDER BY ready_at LIMIT 1000) head
                     WHERE head.owner IS NULL
                       AND NOT EXISTS (SELECT 1 FROM carillon.lane l
                                        WHERE l.queue = head.queue AND l.project = head.project
                                          AND l.paused_at IS NOT NULL)) AS oldest_due,
                   (SELECT coalesce(sum(instants), 0) FROM\s""" + MISSED + """
                   ) AS missed,
                   (SELECT count(*) FROM carillon.run
                     WHERE leased_until IS NOT NULL AND leased_until < carillon.clock() - interval '30 seconds')
                   + (SELECT count(*) FROM carillon.run r
                       WHERE r.parked = 'running' AND r.leased_until IS NULL
                         AND NOT EXISTS (SELECT 1 FROM carillon.node n
                                          WHERE n.id = r.owner AND n.dead_at IS NULL
                                            AND n.heartbeat_at > carillon.clock() - interval '1 minute')) AS stalled
            """;

    private static final String MISSED_BY_SCHEDULE =
            "SELECT s.name, sum(missed.instants) AS instants FROM " + MISSED + """
              JOIN carillon.schedule s ON s.project = missed.project AND s.id = missed.schedule_id
             GROUP BY s.name HAVING sum(missed.instants) >= 3 ORDER BY 2 DESC, 1 LIMIT 5
            """;

    // The transactions that hold a snapshot or a transaction id: only these keep VACUUM from removing rows.
    private static final String OLD_TRANSACTION = """
            SELECT pid, coalesce(usename, '') AS usename, coalesce(application_name, '') AS application_name,
                   coalesce(state, '') AS state,
                   extract(epoch FROM carillon.clock() - xact_start) AS age, left(query, 80) AS query
              FROM pg_stat_activity
             WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()
               AND backend_type = 'client backend' AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
             ORDER BY xact_start LIMIT 1
            """;

    private static final String BROKEN_LANES =
            "SELECT queue, project FROM carillon.lane WHERE breaker <> 'closed' ORDER BY queue, project LIMIT 100";

    private static final String QUEUES = """
            SELECT queue, count(*) AS due, extract(epoch FROM carillon.clock() - min(ready_at)) AS oldest
              FROM (SELECT queue, ready_at, owner FROM carillon.run
                     WHERE ready_at < 'infinity' AND ready_at <= carillon.clock() ORDER BY ready_at LIMIT 10000) head
             WHERE owner IS NULL GROUP BY queue ORDER BY queue
            """;

    private static final String SCHEDULES = """
            SELECT CASE WHEN s.project = 'default' THEN s.name ELSE s.project || '/' || s.name END AS name,
                   s.paused_at IS NOT NULL AS paused,
                   CASE WHEN s.paused_at IS NULL
                        THEN coalesce(tick.planned_at, CASE WHEN isfinite(s.next_at) THEN s.next_at END) END AS next_at,
                   greatest(0, extract(epoch FROM carillon.clock() - tick.due_at)) AS lag,
                     success.ended_at AS last_success
              FROM (SELECT * FROM carillon.schedule ORDER BY project, name LIMIT 500) s
              LEFT JOIN LATERAL (SELECT r.planned_at, r.due_at FROM carillon.run r
                                  WHERE r.schedule_id = s.id AND r.origin IN ('tick', 'backfill') AND r.owner IS NULL
                                  ORDER BY r.planned_at LIMIT 1) tick ON true
              LEFT JOIN LATERAL (SELECT h.ended_at FROM carillon.run_history h
                                  WHERE h.schedule_id = s.id AND h.origin IN ('tick', 'backfill')
                                    AND h.state = 'succeeded'
                                  ORDER BY h.planned_at DESC LIMIT 1) success ON true
            """;

    private static final String COUNTS =
            "SELECT count(*) AS schedules, count(*) FILTER (WHERE paused_at IS NULL) AS active FROM carillon.schedule";

    private final Database database;

    public VitalsRepository(Database database) {
        this.database = database;
    }

    @Override
    public DatabaseVitals read() {
        long asked = System.nanoTime();
        return database.single(session -> {
            Duration borrowed = Duration.ofNanos(System.nanoTime() - asked);
            Map<String, Long> missing = new LinkedHashMap<>();
            session.queryWithNewPlan(MISSED_BY_SCHEDULE)
                    .list(row -> missing.put(row.text("name"), row.number("instants")));
            OldTransaction old = session.queryWithNewPlan(OLD_TRANSACTION)
                    .first(VitalsRepository::readOldTransaction)
                    .orElse(null);
            List<Lane> broken = session.queryWithNewPlan(BROKEN_LANES)
                    .list(row -> new Lane(row.text("queue"), row.text("project")));
            return session.queryWithNewPlan(READ)
                    .first(row -> new DatabaseVitals(
                            row.instant("now"),
                            row.maybeInstant("oldest_due"),
                            row.number("missed"),
                            missing,
                            row.number("stalled"),
                            broken,
                            old,
                            borrowed,
                            row.maybeReal("jit")))
                    .orElseThrow();
        });
    }

    @Override
    public DatabaseVitals.Figures figures() {
        return database.single(session -> {
            List<DatabaseVitals.QueueVitals> queues = session.queryWithNewPlan(QUEUES)
                    .list(row -> new DatabaseVitals.QueueVitals(
                            row.text("queue"), row.number("due"), row.seconds("oldest")));
            List<DatabaseVitals.ScheduleVitals> schedules = session.queryWithNewPlan(SCHEDULES)
                    .list(row -> new DatabaseVitals.ScheduleVitals(
                            row.text("name"),
                            row.flag("paused"),
                            row.maybeInstant("next_at"),
                            row.seconds("lag"),
                            row.maybeInstant("last_success")));
            return session.queryWithNewPlan(COUNTS)
                    .first(row -> new DatabaseVitals.Figures(
                            queues, schedules, row.number("schedules"), row.number("active")))
                    .orElseThrow();
        });
    }

    private static OldTransaction readOldTransaction(Row row) throws SQLException {
        return new OldTransaction(
                row.number("pid"),
                row.text("usename"),
                row.text("application_name"),
                row.text("state"),
                row.seconds("age"),
                row.text("query"));
    }
}
