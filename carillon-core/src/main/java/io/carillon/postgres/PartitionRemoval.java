package io.carillon.postgres;

import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes partitions whose days are over. Detaching and dropping cannot be one transaction, and detaching itself has two parts: whatever was interrupted
 * is found and finished by a later call, by whichever node.
 */
final class PartitionRemoval {
    /** The comment on a table that is ours to drop; a table that somebody else detached, to keep it, has none. */
    static final String MARK = "its days are over";

    private static final String OLD = """
            SELECT regexp_replace(c.relname, '_[0-9]{8}$', '') AS parent, c.relname AS partition, i.inhrelid IS NOT NULL AS attached,
                   coalesce(i.inhdetachpending, false) AS pending
              FROM pg_class c
              LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
             WHERE c.relnamespace = 'carillon'::regnamespace AND c.relkind = 'r'
               AND regexp_replace(c.relname, '_[0-9]{8}$', '') = ANY (:tables::text[])
               AND (i.inhrelid IS NOT NULL OR obj_description(c.oid, 'pg_class') = '""" + MARK + """
            ')
               AND (coalesce(i.inhdetachpending, false)
                    OR right(c.relname, 8) < to_char((carillon.clock() - make_interval(secs => :retention)) AT TIME ZONE 'UTC', 'YYYYMMDD'))
             ORDER BY pending DESC, partition
            """;

    private static final Logger log = LoggerFactory.getLogger(PartitionRemoval.class);
    private final Database database;

    PartitionRemoval(Database database) {
        this.database = database;
    }

    private record Old(String parent, String partition, boolean attached, boolean pending) {
        static Old read(Row row) throws SQLException {
            return new Old(row.text("parent"), row.text("partition"), row.flag("attached"), row.flag("pending"));
        }
    }

    /** Removes what is older than the retention; returns how many partitions are gone. */
    int remove(Duration retention) {
        return database.single(session -> {
            List<Old> old = session.query(OLD)
                    .texts("tables", Partitions.TABLES)
                    .seconds("retention", retention)
                    .list(Old::read);
            int removed = 0;
            Set<String> busy = new HashSet<>();
            for (Old one : old) {
                if (busy.contains(one.parent)) continue;
                if (removed(session, one)) removed++;
                else busy.add(one.parent);
            }
            return removed;
        });
    }

    /** False: a reader is still at it, or another node; a table has at most one partition that is being detached, so its others wait too. */
    private static boolean removed(Session session, Old old) throws SQLException {
        String partition = "carillon." + old.partition;
        try (Statement statement = session.connection().createStatement()) {
            statement.setQueryTimeout(session.statementSeconds());
            if (old.attached) {
                statement.execute("COMMENT ON TABLE " + partition + " IS '" + MARK + "'");
                // Concurrently: it waits for readers instead of stopping them.
                statement.execute("ALTER TABLE carillon." + old.parent + " DETACH PARTITION " + partition
                        + (old.pending ? " FINALIZE" : " CONCURRENTLY"));
            }
            statement.execute("DROP TABLE " + partition);
            return true;
        } catch (SQLException failure) {
            if (session.connection().isClosed()) throw failure;
            log.info("partition not removed yet partition={} error={}", old.partition, failure.getMessage());
            return false;
        }
    }
}
