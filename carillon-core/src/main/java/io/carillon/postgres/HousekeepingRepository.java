package io.carillon.postgres;

import io.carillon.store.Dust;
import io.carillon.store.Housekeeping;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Keeps tables small: partitions ahead, partitions dropped, leftovers deleted. Every node may run it at any time. */
final class HousekeepingRepository implements Housekeeping {
    /** What one statement removes at most: each is short, and all of them together go on until nothing is left. */
    private static final int CHUNK = 5_000;

    private static final String PURGE_DEAD_RUNS = """
            DELETE FROM carillon.dead_run WHERE (project, id) IN (
              SELECT project, id FROM carillon.dead_run
               WHERE died_at < carillon.clock() - make_interval(secs => :age) ORDER BY died_at LIMIT :chunk FOR UPDATE SKIP LOCKED)
            """;

    // A node stays until its second sweep is done.
    private static final String PURGE_NODES = """
            DELETE FROM carillon.node WHERE id IN (
              SELECT id FROM carillon.node
               WHERE dead_at < carillon.clock() - make_interval(secs => :age) AND swept_at >= dead_at + interval '1 minute'
               LIMIT :chunk FOR UPDATE SKIP LOCKED)
            """;

    // Nobody reads notes of a node that is gone.
    private static final String PURGE_NOTES = """
            DELETE FROM carillon.claim_note WHERE (node, seq) IN (
              SELECT c.node, c.seq FROM carillon.claim_note c
               WHERE NOT EXISTS (SELECT 1 FROM carillon.node n WHERE n.id = c.node)
               LIMIT :chunk FOR UPDATE OF c SKIP LOCKED)
            """;

    private static final String PURGE_PROGRESS = """
            DELETE FROM carillon.progress WHERE (project, run_id) IN (
              SELECT p.project, p.run_id FROM carillon.progress p
               WHERE NOT EXISTS (SELECT 1 FROM carillon.run r WHERE r.project = p.project AND r.id = p.run_id)
               LIMIT :chunk FOR UPDATE OF p SKIP LOCKED)
            """;

    private static final String PURGE_AWAITED = """
            DELETE FROM carillon.awaited WHERE (project, run_id) IN (
              SELECT w.project, w.run_id FROM carillon.awaited w
               WHERE NOT EXISTS (SELECT 1 FROM carillon.run r WHERE r.project = w.project AND r.id = w.run_id)
               LIMIT :chunk FOR UPDATE OF w SKIP LOCKED)
            """;

    // Run by run: a sweep sends it too, and a join might read all runs.
    static final String PURGE_CANCELS = """
            DELETE FROM carillon.cancel_request WHERE (project, run_id) IN (
              SELECT c.project, c.run_id FROM carillon.cancel_request c
                LEFT JOIN LATERAL (SELECT true AS there FROM carillon.run r WHERE r.project = c.project AND r.id BETWEEN c.run_id AND c.run_id
                                    ORDER BY r.id LIMIT 1) run ON true
               WHERE run.there IS NULL
               LIMIT :chunk FOR UPDATE OF c SKIP LOCKED)
            """;

    // By the time too: a key that is held anew meanwhile stays.
    private static final String PURGE_HOLDS = """
            DELETE FROM carillon.key_hold WHERE until < carillon.clock() AND (project, queue, key) IN (
              SELECT project, queue, key FROM carillon.key_hold
               WHERE until < carillon.clock() ORDER BY until LIMIT :chunk FOR UPDATE SKIP LOCKED)
            """;

    private static final String PURGE_LOADS = """
            DELETE FROM carillon.node_load WHERE ctid = any(array(
              SELECT ctid FROM carillon.node_load WHERE at < carillon.clock() - interval '10 min' LIMIT :chunk))
              AND at < carillon.clock() - interval '10 min'
            """;

    // Keys that nobody used for longer than their starts matter, which is a day at most.
    private static final String PURGE_RATES = """
            DELETE FROM carillon.gate WHERE (project, kind, key) IN (
              SELECT g.project, g.kind, g.key FROM carillon.gate g
               WHERE g.kind = 'rate' AND g.refilled_at < carillon.clock() - interval '25 h'
                 AND NOT EXISTS (SELECT 1 FROM carillon.run r WHERE r.project = g.project AND r.gate_key = g.key)
               LIMIT :chunk FOR UPDATE OF g SKIP LOCKED)
            """;

    private static final String KEEP_ROOM = "SELECT carillon.keep_room() AS kept";

    private static final String DUST = """
            SELECT pg_stat_get_dead_tuples('carillon.run'::regclass) AS dead, pg_stat_get_live_tuples('carillon.run'::regclass) AS living
            """;

    // Who is not the table's owner gets a warning and nothing else happens, as where autovacuum was there first. It
    // has the time of any statement: a table that takes longer is autovacuum's, which is in no hurry.
    private static final String SWEEP_RUNS = "VACUUM (SKIP_LOCKED, PARALLEL 0) carillon.run";

    private final Database database;
    private final Partitions partitions;
    private final PartitionRemoval removal;

    HousekeepingRepository(Database database, Partitions partitions, PartitionRemoval removal) {
        this.database = database;
        this.partitions = partitions;
        this.removal = removal;
    }

    @Override
    public int keepPartitions(int daysAhead) {
        return partitions.createAhead(daysAhead);
    }

    @Override
    public boolean keepRoom() {
        return database.single(session ->
                session.query(KEEP_ROOM).first(row -> row.flag("kept")).orElse(false));
    }

    @Override
    public Dust dust() {
        return database.single(session -> session.query(DUST)
                .first(row -> new Dust(row.number("dead"), row.number("living")))
                .orElseThrow());
    }

    @Override
    public void sweepRuns() {
        database.single(session -> session.query(SWEEP_RUNS).update());
    }

    @Override
    public int dropHistory(Duration retention) {
        return removal.remove(retention);
    }

    @Override
    public int purge(Duration deadRuns, Duration deadNodes) {
        Map<String, Duration> old = new LinkedHashMap<>();
        old.put(PURGE_DEAD_RUNS, deadRuns);
        old.put(PURGE_NODES, deadNodes);
        for (String sql : List.of(
                PURGE_NOTES, PURGE_PROGRESS, PURGE_AWAITED, PURGE_CANCELS, PURGE_HOLDS, PURGE_LOADS, PURGE_RATES))
            old.put(sql, Duration.ZERO);
        int removed = 0;
        @Nullable RuntimeException failed = null;
        for (Map.Entry<String, Duration> one : old.entrySet()) {
            try {
                removed += removeAll(one.getKey(), one.getValue());
            } catch (RuntimeException failure) {
                // What is wrong with one table keeps no other from being cleaned.
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
