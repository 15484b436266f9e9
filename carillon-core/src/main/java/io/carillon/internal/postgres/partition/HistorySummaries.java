package io.carillon.internal.postgres.partition;

import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.StorageException;
import io.carillon.internal.value.ControlCharacters;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The summaries of the index {@code run_history_ended}, by which a query for the latest endings skips the other pages.
 * An insert adds no summary for new pages. Autovacuum adds them when a partition has grown by a fifth, and until then
 * every such query reads all of these pages.
 */
final class HistorySummaries {
    // Only the owner may summarize. Partitions of the days ahead are empty.
    private static final String INDEXES = """
            SELECT i.inhrelid::regclass::text AS index
              FROM pg_inherits i
              JOIN pg_index x ON x.indexrelid = i.inhrelid
              JOIN pg_class t ON t.oid = x.indrelid
             WHERE i.inhparent = 'carillon.run_history_ended'::regclass AND pg_has_role(t.relowner, 'USAGE')
               AND right(t.relname, 8) BETWEEN
                     to_char(carillon.clock() AT TIME ZONE 'UTC' - make_interval(days => :days::int), 'YYYYMMDD')
                     AND to_char(carillon.clock() AT TIME ZONE 'UTC', 'YYYYMMDD')
             ORDER BY t.relname DESC
            """;

    private static final String SUMMARIZE = "SELECT brin_summarize_new_values(:index::regclass) AS ranges";

    /** Shorter than {@code deadlock_timeout}, after which PostgreSQL would cancel an autovacuum of the partition. */
    private static final String SHORT_WAIT = "SET LOCAL lock_timeout = '100ms'";

    private static final Logger log = LoggerFactory.getLogger(HistorySummaries.class);
    private final Database database;

    HistorySummaries(Database database) {
        this.database = database;
    }

    /**
     * Summarizes the new pages of the partitions of today and of this number of days before. Returns how many ranges of
     * pages.
     */
    int summarize(int daysBefore) {
        List<String> indexes = database.single(
                session -> session.query(INDEXES).number("days", daysBefore).list(row -> row.text("index")));
        return indexes.stream().mapToInt(this::summarize).sum();
    }

    /** Returns 0 if a vacuum or another node holds the lock: it adds the summaries. */
    private int summarize(String index) {
        try {
            return database.transaction(session -> {
                session.execute(SHORT_WAIT);
                return session.query(SUMMARIZE)
                        .text("index", index)
                        .first(row -> row.integer("ranges"))
                        .orElse(0);
            });
        } catch (StorageException failure) {
            if (!failure.isTimeout()) throw failure;
            log.debug(
                    "history not summarized, will retry index={} error={}",
                    ControlCharacters.escape(index),
                    ControlCharacters.escape(failure));
            return 0;
        }
    }
}
