package io.carillon.postgres;

import io.carillon.store.Housekeeping;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;

/** Keeps tables small: partitions ahead, partitions dropped, leftovers deleted. Every node may run it at any time. */
final class HousekeepingRepository implements Housekeeping {
    private static final String OLD_PARTITIONS = """
            SELECT p.relname AS parent, c.relname AS partition, i.inhdetachpending AS pending
              FROM pg_inherits i
              JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent JOIN pg_namespace n ON n.oid = p.relnamespace
             WHERE n.nspname = 'carillon' AND p.relname = ANY (:tables::text[])
               AND (i.inhdetachpending
                    OR right(c.relname, 8) < to_char((carillon.clock() - make_interval(secs => :retention)) AT TIME ZONE 'UTC', 'YYYYMMDD'))
             ORDER BY c.relname
            """;

    private static final String TRY_LOCK =
            "SELECT pg_try_advisory_lock(hashtextextended('carillon.retention', 0)) AS mine";
    private static final String UNLOCK = "SELECT pg_advisory_unlock(hashtextextended('carillon.retention', 0))";

    private static final String PURGE_DEAD_RUNS = """
            DELETE FROM carillon.dead_run WHERE (project, id) IN (
              SELECT project, id FROM carillon.dead_run
               WHERE died_at < carillon.clock() - make_interval(secs => :age) ORDER BY died_at LIMIT 5000 FOR UPDATE SKIP LOCKED)
            """;

    // A node stays while a run still names it as owner: that run is not swept yet.
    private static final String PURGE_NODES = """
            DELETE FROM carillon.node
             WHERE dead_at < carillon.clock() - make_interval(secs => :age) AND swept_at > dead_at + interval '1 minute'
            """;

    private static final String PURGE_PROGRESS = """
            DELETE FROM carillon.progress p WHERE NOT EXISTS (SELECT 1 FROM carillon.run r WHERE r.project = p.project AND r.id = p.run_id)
            """;

    private static final String PURGE_CANCELS = """
            DELETE FROM carillon.cancel_request c
             WHERE NOT EXISTS (SELECT 1 FROM carillon.run r WHERE r.project = c.project AND r.id = c.run_id)
            """;

    private static final String PURGE_HOLDS = "DELETE FROM carillon.key_hold WHERE until < carillon.clock()";

    private final Database database;
    private final Partitions partitions;

    HousekeepingRepository(Database database, Partitions partitions) {
        this.database = database;
        this.partitions = partitions;
    }

    @Override
    public int keepPartitions(int daysAhead) {
        return partitions.createAhead(daysAhead);
    }

    @Override
    public int dropHistory(Duration retention) {
        return database.single(session -> {
            if (!session.query(TRY_LOCK).first(row -> row.flag("mine")).orElse(false)) return 0;
            try {
                record Old(String parent, String partition, boolean pending) {}
                List<Old> old = session.query(OLD_PARTITIONS)
                        .texts("tables", Partitions.TABLES)
                        .seconds("retention", retention)
                        .list(row -> new Old(row.text("parent"), row.text("partition"), row.flag("pending")));
                for (Old one : old) drop(session.connection(), one.parent(), one.partition(), one.pending());
                return old.size();
            } finally {
                session.query(UNLOCK).list(row -> row);
            }
        });
    }

    /** Detaching concurrently waits for readers instead of stopping them; one that was interrupted is finished first. */
    private static void drop(Connection connection, String parent, String partition, boolean pending)
            throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("ALTER TABLE carillon." + parent + " DETACH PARTITION carillon." + partition
                    + (pending ? " FINALIZE" : " CONCURRENTLY"));
            statement.execute("DROP TABLE carillon." + partition);
        }
    }

    @Override
    public int purge(Duration deadRuns, Duration deadNodes) {
        return database.single(session ->
                session.query(PURGE_DEAD_RUNS).seconds("age", deadRuns).update()
                        + session.query(PURGE_NODES).seconds("age", deadNodes).update()
                        + session.query(PURGE_PROGRESS).update()
                        + session.query(PURGE_CANCELS).update()
                        + session.query(PURGE_HOLDS).update());
    }
}
