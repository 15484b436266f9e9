package io.carillon.internal.postgres.partition;

import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.store.MaintenanceStore;
import io.carillon.internal.store.TableStats;
import io.carillon.internal.store.stats.StatsStore;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The statements that keep tables small: they create partitions ahead, drop old ones and delete leftovers. Every node
 * may run them at any time.
 */
public final class MaintenanceRepository implements MaintenanceStore {
    /**
     * The most rows that one statement removes, so that each statement is short. Statements are repeated until nothing
     * is left.
     */
    private static final int CHUNK = 5_000;

    private static final String PURGE_DEAD_RUNS = """
            DELETE FROM carillon.dead_run WHERE (project, id) IN (
              SELECT project, id FROM carillon.dead_run
               WHERE died_at < carillon.clock() - make_interval(secs => :age) ORDER BY died_at LIMIT :chunk
                 FOR UPDATE SKIP LOCKED)
            """;

    // A node is kept until its second rescue is done.
    private static final String PURGE_NODES = """
            DELETE FROM carillon.node WHERE id IN (
              SELECT id FROM carillon.node
               WHERE dead_at < carillon.clock() - make_interval(secs => :age)
                 AND rescued_at >= dead_at + interval '1 minute'
               LIMIT :chunk FOR UPDATE SKIP LOCKED)
            """;

    // The claim records of a removed node are never read.
    private static final String PURGE_CLAIM_RECORDS = """
            DELETE FROM carillon.claim_record WHERE (node, claim_number) IN (
              SELECT c.node, c.claim_number FROM carillon.claim_record c
               WHERE NOT EXISTS (SELECT 1 FROM carillon.node n WHERE n.id = c.node)
               LIMIT :chunk FOR UPDATE OF c SKIP LOCKED)
            """;

    private static final String PURGE_PROGRESS = """
            DELETE FROM carillon.progress WHERE (project, run_id) IN (
              SELECT p.project, p.run_id FROM carillon.progress p
               WHERE NOT EXISTS (SELECT 1 FROM carillon.run r WHERE r.project = p.project AND r.id = p.run_id)
               LIMIT :chunk FOR UPDATE OF p SKIP LOCKED)
            """;

    private static final String PURGE_WORKFLOW_SIGNALS = """
            DELETE FROM carillon.workflow_signal WHERE (project, run_id, send_id) IN (
              SELECT s.project, s.run_id, s.send_id FROM carillon.workflow_signal s
               WHERE NOT EXISTS (SELECT 1 FROM carillon.run r WHERE r.project = s.project AND r.id = s.run_id)
               LIMIT :chunk FOR UPDATE OF s SKIP LOCKED)
            """;

    private static final String PURGE_OPEN_ATTEMPTS = """
            DELETE FROM carillon.open_attempt WHERE (project, run_id) IN (
              SELECT w.project, w.run_id FROM carillon.open_attempt w
               WHERE NOT EXISTS (SELECT 1 FROM carillon.run r WHERE r.project = w.project AND r.id = w.run_id)
               LIMIT :chunk FOR UPDATE OF w SKIP LOCKED)
            """;

    // Each run is looked up by its key: a rescue runs this statement too, and a join might read all runs.
    public static final String PURGE_CANCEL_REQUESTS = """
            DELETE FROM carillon.cancel_request WHERE (project, run_id) IN (
              SELECT c.project, c.run_id FROM carillon.cancel_request c
                LEFT JOIN LATERAL (SELECT true AS existing FROM carillon.run r
                  WHERE r.project = c.project AND r.id BETWEEN c.run_id AND c.run_id
                                    ORDER BY r.id LIMIT 1) run ON true
               WHERE run.existing IS NULL
               LIMIT :chunk FOR UPDATE OF c SKIP LOCKED)
            """;

    // The outer condition on the time keeps a key that was taken again meanwhile.
    private static final String PURGE_KEY_WINDOWS = """
            DELETE FROM carillon.unique_key_window WHERE until < carillon.clock() AND (project, handler, key) IN (
              SELECT project, handler, key FROM carillon.unique_key_window
               WHERE until < carillon.clock() ORDER BY until LIMIT :chunk FOR UPDATE SKIP LOCKED)
            """;

    private static final String PURGE_ATTEMPT_STATS = """
            DELETE FROM carillon.lane_attempt_stats WHERE ctid = any(array(
              SELECT ctid FROM carillon.lane_attempt_stats WHERE at < carillon.clock() - interval '10 min'
                LIMIT :chunk))
              AND at < carillon.clock() - interval '10 min'
            """;

    // Rate keys that were not used for longer than their starts matter, which is at most a day.
    private static final String PURGE_RATE_GATES = """
            DELETE FROM carillon.gate WHERE (project, kind, key) IN (
              SELECT g.project, g.kind, g.key FROM carillon.gate g
               WHERE g.kind = 'rate' AND g.checked_at < carillon.clock() - interval '25 h'
                 AND NOT EXISTS (SELECT 1 FROM carillon.run r WHERE r.project = g.project AND r.gate_key = g.key)
               LIMIT :chunk FOR UPDATE OF g SKIP LOCKED)
            """;

    // How long events are kept. A long transaction may have published on the day before its snapshot.
    private static final String KEPT_SECONDS = """
            SELECT extract(epoch FROM carillon.clock() - least(carillon.clock() - make_interval(secs => :retention),
                     greatest(carillon.clock() - make_interval(secs => :retention) * 2,
                       (SELECT min(t.stored_at) - interval '1 day'
                          FROM (SELECT c.snapshot FROM carillon.event_cursor c
                                  JOIN carillon.event_subscription s ON s.project = c.project AND s.name = c.name
                                   AND (c.replay > 0 OR c.replay = s.cursor_number)
                                UNION ALL
                                SELECT d.snapshot FROM carillon.event_dispatch d
                                 WHERE EXISTS (SELECT 1 FROM carillon.event_subscription)
                                UNION ALL SELECT cursor_snapshot FROM carillon.event_relay
                                UNION ALL SELECT min(snapshot) FROM carillon.event_relay_held) p
                          JOIN carillon.event_snapshot t ON t.snapshot = p.snapshot))))::float8 AS kept
            """;

    private static final String PURGE_SNAPSHOTS = """
            DELETE FROM carillon.event_snapshot WHERE snapshot IN (
              SELECT snapshot FROM carillon.event_snapshot
               WHERE stored_at < carillon.clock() - make_interval(secs => :age) - interval '2 days'
                 AND snapshot < (SELECT max(snapshot) FROM carillon.event_snapshot)
               ORDER BY snapshot LIMIT :chunk FOR UPDATE SKIP LOCKED)
            """;

    // A dispatch may add the cursor of a subscription that a transaction is removing.
    private static final String PURGE_CURSORS = """
            DELETE FROM carillon.event_cursor WHERE (project, name, replay) IN (
              SELECT c.project, c.name, c.replay FROM carillon.event_cursor c
               WHERE NOT EXISTS (SELECT 1 FROM carillon.event_subscription s
                                  WHERE s.project = c.project AND s.name = c.name
                                    AND (c.replay > 0 OR c.replay = s.cursor_number))
               LIMIT :chunk FOR UPDATE OF c SKIP LOCKED)
            """;

    private static final String RESERVE_PAGES =
            "/* INSERT INTO carillon.run, DELETE FROM carillon.run */ SELECT carillon.reserve_pages() AS reserved";

    private static final String TABLE_STATS = """
            SELECT pg_stat_get_dead_tuples('carillon.run'::regclass) AS dead,
              pg_stat_get_live_tuples('carillon.run'::regclass) AS living
            """;

    // If the user does not own the table, or autovacuum is processing it, PostgreSQL skips it and may log a warning.
    // VACUUM has the usual statement timeout: a table that takes longer is left to autovacuum.
    private static final String VACUUM_RUNS = "VACUUM (SKIP_LOCKED, PARALLEL 0) carillon.run";

    private final Database database;
    private final Partitions partitions;
    private final PartitionRemoval removal;
    private final StatsStore stats;
    private final EndedSteps endedSteps;
    private final HistorySummaries summaries;

    public MaintenanceRepository(Database database, Partitions partitions, PartitionRemoval removal, StatsStore stats) {
        this.database = database;
        this.partitions = partitions;
        this.removal = removal;
        this.stats = stats;
        this.endedSteps = new EndedSteps(database, partitions);
        this.summaries = new HistorySummaries(database);
    }

    @Override
    public int ensurePartitions(int daysAhead) {
        return partitions.createAhead(daysAhead);
    }

    @Override
    public boolean reservePages() {
        return database.single(session ->
                session.query(RESERVE_PAGES).first(row -> row.flag("reserved")).orElse(false));
    }

    @Override
    public TableStats tableStats() {
        return database.single(session -> session.query(TABLE_STATS)
                .first(row -> new TableStats(row.number("dead"), row.number("living")))
                .orElseThrow());
    }

    @Override
    public void vacuumRuns() {
        database.single(session -> session.query(VACUUM_RUNS).update());
    }

    @Override
    public int summarizeHistory(int daysBefore) {
        return summaries.summarize(daysBefore);
    }

    @Override
    public int dropHistory(Duration retention) {
        return removal.remove(retention);
    }

    @Override
    public int maintainStats(Duration minutes, Duration hours) {
        stats.computeHours();
        return stats.removeOlder(minutes, hours);
    }

    @Override
    public int dropEvents(Duration retention) {
        Duration kept = database.single(session -> session.query(KEPT_SECONDS)
                .seconds("retention", retention)
                .first(row -> row.seconds("kept"))
                .orElse(retention));
        int removed = removal.removeEvents(kept) + removal.removePublishIds();
        removeAll(PURGE_SNAPSHOTS, kept);
        removeAll(PURGE_CURSORS, Duration.ZERO);
        return removed;
    }

    @Override
    public int purge(Duration deadRuns, Duration deadNodes) {
        Map<String, Duration> old = new LinkedHashMap<>();
        old.put(PURGE_DEAD_RUNS, deadRuns);
        old.put(PURGE_NODES, deadNodes);
        for (String sql : List.of(
                PURGE_CLAIM_RECORDS,
                PURGE_PROGRESS,
                PURGE_WORKFLOW_SIGNALS,
                PURGE_OPEN_ATTEMPTS,
                PURGE_CANCEL_REQUESTS,
                PURGE_KEY_WINDOWS,
                PURGE_ATTEMPT_STATS,
                PURGE_RATE_GATES)) old.put(sql, Duration.ZERO);
        int removed = 0;
        @Nullable RuntimeException failed = null;
        try {
            removed += endedSteps.move();
        } catch (RuntimeException failure) {
            failed = failure;
        }
        for (Map.Entry<String, Duration> one : old.entrySet()) {
            try {
                removed += removeAll(one.getKey(), one.getValue());
            } catch (RuntimeException failure) {
                // A failure in one table must not keep the others from being cleaned.
                if (failed == null) failed = failure;
                else failed.addSuppressed(failure);
            }
        }
        if (failed != null) throw failed;
        return removed;
    }

    private int removeAll(String sql, Duration age) {
        int all = 0;
        while (true) {
            int removed = database.single(session -> {
                Query query = session.query(sql).number("chunk", CHUNK);
                return (sql.contains(":age") ? query.seconds("age", age) : query).update();
            });
            all += removed;
            if (removed < CHUNK || Thread.currentThread().isInterrupted()) return all;
        }
    }
}
