package io.carillon.internal.postgres.partition;

import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.value.ControlCharacters;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The removal of partitions whose days have expired. Detaching and dropping cannot be one transaction, and detaching
 * itself has two parts. A later call, on any node, finds and finishes an interrupted removal.
 */
public final class PartitionRemoval {
    /**
     * The comment on a table that retention detached and will drop. A table that an operator detached in order to keep
     * it has no such comment.
     */
    static final String MARK = "carillon: detached by retention, to be dropped";

    private static final String EXPIRED_PARTITIONS = """
            SELECT regexp_replace(c.relname, '_[0-9]{8}$', '') AS parent, c.relname AS partition,
                   i.inhrelid IS NOT NULL AS attached,
                   coalesce(i.inhdetachpending, false) AS pending
              FROM pg_class c
              LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
             WHERE c.relnamespace = 'carillon'::regnamespace AND c.relkind = 'r'
               AND regexp_replace(c.relname, '_[0-9]{8}$', '') = ANY (:tables::text[])
               AND (i.inhrelid IS NOT NULL OR obj_description(c.oid, 'pg_class') = '""" + MARK + """
            ')
               AND (coalesce(i.inhdetachpending, false)
                    OR right(c.relname, 8) <
                       to_char((carillon.clock() - make_interval(secs => :retention)) AT TIME ZONE 'UTC', 'YYYYMMDD'))
             ORDER BY pending DESC, partition
            """;

    private static final Logger log = LoggerFactory.getLogger(PartitionRemoval.class);
    private final Database database;

    public PartitionRemoval(Database database) {
        this.database = database;
    }

    private record ExpiredPartition(String parent, String partition, boolean attached, boolean detachPending) {
        static ExpiredPartition read(Row row) throws SQLException {
            return new ExpiredPartition(
                    row.text("parent"), row.text("partition"), row.flag("attached"), row.flag("pending"));
        }
    }

    /** Removes partitions that are older than the retention, and returns their number. */
    int remove(Duration retention) {
        return remove(Partitions.HISTORY_TABLES, retention);
    }

    /** Removes partitions of events that are older than the retention, and returns their number. */
    int removeEvents(Duration retention) {
        return remove(List.of(Partitions.EVENT_TABLE), retention);
    }

    /** Removes the partitions of publish ids that no publish can meet anymore, and returns their number. */
    int removePublishIds() {
        return remove(List.of(Partitions.PUBLISH_ID_TABLE), Duration.ofDays(3));
    }

    private int remove(List<String> tables, Duration retention) {
        return database.single(session -> {
            List<ExpiredPartition> old = session.query(EXPIRED_PARTITIONS)
                    .texts("tables", tables)
                    .seconds("retention", retention)
                    .list(ExpiredPartition::read);
            int removed = 0;
            Set<String> busy = new HashSet<>();
            for (ExpiredPartition one : old) {
                if (busy.contains(one.parent)) continue;
                if (tryRemove(session, one)) removed++;
                else busy.add(one.parent);
            }
            return removed;
        });
    }

    /**
     * Returns false if a reader or another node still uses the partition. A table has at most one partition that is
     * being detached, so its other partitions wait too.
     */
    private static boolean tryRemove(Session session, ExpiredPartition expiredPartition) throws SQLException {
        String partition = "carillon." + expiredPartition.partition;
        try {
            if (expiredPartition.attached) {
                session.execute("COMMENT ON TABLE " + partition + " IS '" + MARK + "'");
                // CONCURRENTLY waits for readers instead of blocking them.
                session.execute("ALTER TABLE carillon." + expiredPartition.parent + " DETACH PARTITION " + partition
                        + (expiredPartition.detachPending ? " FINALIZE" : " CONCURRENTLY"));
            }
            session.execute("DROP TABLE " + partition);
            return true;
        } catch (SQLException failure) {
            if (session.connection().isClosed()) throw failure;
            log.info(
                    "partition not removed, will retry partition={} error={}",
                    expiredPartition.partition,
                    ControlCharacters.escape(failure.getMessage()));
            return false;
        }
    }
}
