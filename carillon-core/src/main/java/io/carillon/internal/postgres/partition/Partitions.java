package io.carillon.internal.postgres.partition;

import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.jdbc.StorageException;
import java.sql.SQLException;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The daily partitions of the history and of the events: created ahead, and created when missing.
 * {@link PartitionRemoval} drops them.
 */
public final class Partitions {
    static final List<String> HISTORY_TABLES = List.of("run_history", "attempt", "ledger_gap", "workflow_step_history");

    static final String EVENT_TABLE = "event_store";

    static final String PUBLISH_ID_TABLE = "event_publish_id";

    private static final List<String> TABLES = Stream.concat(
                    HISTORY_TABLES.stream(), Stream.of(EVENT_TABLE, PUBLISH_ID_TABLE))
            .toList();

    // Almost always none is missing: then this is one query, and not one for each table and day.
    private static final String DAYS_MISSING = """
            SELECT day::text
              FROM (SELECT (carillon.clock() AT TIME ZONE 'UTC')::date + n AS day
                FROM generate_series(-1, :ahead::int) n) d
             WHERE (SELECT count(*) FROM unnest(:tables::text[]) t, pg_class c, pg_namespace n, pg_inherits i
                     WHERE c.relname = t || '_' || to_char(day, 'YYYYMMDD') AND n.oid = c.relnamespace
                       AND n.nspname = 'carillon' AND i.inhrelid = c.oid)
                   < cardinality(:tables::text[])
             ORDER BY day
            """;
    // Not to_regclass: inside a transaction it may answer from a cache that does not contain tables that other sessions
    // created meanwhile.
    private static final String IS_ATTACHED = """
            SELECT EXISTS (SELECT 1 FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
              JOIN pg_namespace n ON n.oid = c.relnamespace
                            WHERE n.nspname || '.' || c.relname = :name) AS present
            """;

    private static final String IS_LEFTOVER =
            "SELECT obj_description(to_regclass(:name), 'pg_class') = '" + PartitionRemoval.MARK + "' AS present";

    private static final String LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('carillon.partitions', 0))";

    private final Database database;
    private final Database workDatabase;

    public Partitions(Database database) {
        this(database, database);
    }

    /** Creates partitions through {@code database} for work that runs on {@code workDatabase}. */
    public Partitions(Database database, Database workDatabase) {
        this.database = database;
        this.workDatabase = workDatabase;
    }

    /** Runs work that has its own transaction. If a partition is missing, creates it and repeats the work. */
    public <T> T creatingMissing(Supplier<T> work) {
        Set<LocalDate> created = new HashSet<>();
        boolean ahead = false;
        while (true) {
            try {
                return workDatabase.withSavepoint(work);
            } catch (StorageException failure) {
                Optional<LocalDate> missing = failure.missingDay();
                if (missing.isEmpty() && failure.isCheckViolation() && workDatabase != database && !ahead) {
                    // Under row-level security PostgreSQL does not report the day.
                    ahead = true;
                    createAhead(1);
                    continue;
                }
                if (missing.isEmpty() || !created.add(missing.get())) throw failure;
                create(missing.get());
            }
        }
    }

    /** Creates the partitions from yesterday to {@code daysAhead}; returns how many were missing. */
    int createAhead(int daysAhead) {
        List<LocalDate> days = database.single(session -> session.query(DAYS_MISSING)
                .number("ahead", daysAhead)
                .texts("tables", TABLES)
                .list(row -> LocalDate.parse(row.text("day"))));
        return days.stream().mapToInt(this::create).sum();
    }

    /**
     * Creates the partitions of one day. Attaching a table takes a weaker lock on its parent than creating it as a
     * partition, so no other session has to wait.
     */
    public int create(LocalDate day) {
        int created = 0;
        for (String table : TABLES) {
            String name = "carillon." + table + "_" + day.format(DateTimeFormatter.BASIC_ISO_DATE);
            if (database.single(session -> isTrue(session, IS_ATTACHED, name))) continue;
            boolean mine = database.transaction(session -> {
                session.query(LOCK).list(row -> row);
                if (isTrue(session, IS_ATTACHED, name)) return false;
                attach(session, table, name, day);
                return true;
            });
            if (mine) created++;
        }
        return created;
    }

    private static boolean isTrue(Session session, String question, String name) throws SQLException {
        return session.query(question)
                .text("name", name)
                .first(row -> row.flag("present"))
                .orElse(false);
    }

    private static void attach(Session session, String table, String name, LocalDate day) throws SQLException {
        boolean leftOver = isTrue(session, IS_LEFTOVER, name);
        if (leftOver) session.execute("DROP TABLE " + name);
        session.execute(
                "CREATE TABLE " + name + " (LIKE carillon." + table + " INCLUDING DEFAULTS INCLUDING CONSTRAINTS)");
        session.execute("ALTER TABLE carillon." + table + " ATTACH PARTITION " + name + " FOR VALUES FROM ('" + day
                + "') TO ('" + day.plusDays(1) + "')");
    }
}
