package io.carillon.postgres;

import io.carillon.store.Dust;
import io.carillon.store.Housekeeping;
import java.time.Duration;

/** Keeps tables small: partitions ahead, partitions dropped, leftovers deleted. Every node may run it at any time. */
final class HousekeepingRepository implements Housekeeping {
    private static final String PURGE_DEAD_RUNS = """
            DELETE FROM carillon.dead_run WHERE (project, id) IN (
              SELECT project, id FROM carillon.dead_run
               WHERE died_at < carillon.clock() - make_interval(secs => :age) ORDER BY died_at LIMIT 5000 FOR UPDATE SKIP LOCKED)
            """;

    // A node stays until its second sweep is done.
    private static final String PURGE_NODES = """
            DELETE FROM carillon.node
             WHERE dead_at < carillon.clock() - make_interval(secs => :age) AND swept_at >= dead_at + interval '1 minute'
            """;

    private static final String PURGE_PROGRESS = """
            DELETE FROM carillon.progress p WHERE NOT EXISTS (SELECT 1 FROM carillon.run r WHERE r.project = p.project AND r.id = p.run_id)
            """;

    private static final String PURGE_AWAITED = """
            DELETE FROM carillon.awaited w WHERE NOT EXISTS (SELECT 1 FROM carillon.run r WHERE r.project = w.project AND r.id = w.run_id)
            """;

    private static final String PURGE_CANCELS = """
            DELETE FROM carillon.cancel_request c
             WHERE NOT EXISTS (SELECT 1 FROM carillon.run r WHERE r.project = c.project AND r.id = c.run_id)
            """;

    private static final String PURGE_HOLDS = "DELETE FROM carillon.key_hold WHERE until < carillon.clock()";

    private static final String PURGE_LOADS =
            "DELETE FROM carillon.node_load WHERE at < carillon.clock() - interval '10 min'";

    // Keys that nobody used for longer than their starts matter, which is a day at most.
    private static final String PURGE_RATES = """
            DELETE FROM carillon.gate g
             WHERE g.kind = 'rate' AND g.refilled_at < carillon.clock() - interval '25 h'
               AND NOT EXISTS (SELECT 1 FROM carillon.run r WHERE r.project = g.project AND r.gate_key = g.key)
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
        return database.single(session ->
                session.query(PURGE_DEAD_RUNS).seconds("age", deadRuns).update()
                        + session.query(PURGE_NODES).seconds("age", deadNodes).update()
                        + session.query(PURGE_PROGRESS).update()
                        + session.query(PURGE_AWAITED).update()
                        + session.query(PURGE_CANCELS).update()
                        + session.query(PURGE_HOLDS).update()
                        + session.query(PURGE_LOADS).update()
                        + session.query(PURGE_RATES).update());
    }
}
