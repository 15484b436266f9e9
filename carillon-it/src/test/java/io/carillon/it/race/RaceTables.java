package io.carillon.it.race;

import io.carillon.it.fixture.PostgresStoreFixture;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * All tables of a race's database: clears them, dumps them without values that differ between races, and watches which
 * session waits for which. A trigger on each table can stop a statement after it took its snapshot and before it reads
 * a row, so rows that commit meanwhile are newer than the snapshot.
 */
final class RaceTables implements AutoCloseable {
    private static final long STOP_LOCK = 4_711;

    private static final String TABLES = """
            SELECT relname FROM pg_class
             WHERE relnamespace = 'carillon'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
               AND relname <> 'migration'
             ORDER BY relname = 'project', relname
            """;

    private static final String STOP_TRIGGER = """
            CREATE FUNCTION carillon_test.stop() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
              IF current_setting('%s', true) = 'on' THEN
                PERFORM pg_advisory_lock_shared(%d);
                PERFORM pg_advisory_unlock_shared(%d);
              END IF;
              RETURN NULL;
            END $$
            """.formatted(StatementInterceptor.STOP_SETTING, STOP_LOCK, STOP_LOCK);

    private static final String WAITS = "SELECT EXISTS (SELECT 1 FROM unnest(?::int[]) AS waiting(pid)"
            + " WHERE pg_blocking_pids(waiting.pid) && ?::int[])";

    private static final Pattern ID =
            Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|run_[0-9a-hjkmnp-tv-z]{26}");

    private final Connection monitor;
    private final int backend;
    private final String clear;
    private final String dumpSql;

    RaceTables(PostgresStoreFixture fixture) throws SQLException {
        List<String> tables = fixture.query(TABLES).texts();
        monitor = fixture.open();
        backend = monitor.unwrap(org.postgresql.PGConnection.class).getBackendPID();
        try (Statement statement = monitor.createStatement()) {
            statement.execute(STOP_TRIGGER);
            for (String table : tables)
                statement.execute("CREATE TRIGGER stop BEFORE INSERT OR UPDATE OR DELETE ON carillon." + table
                        + " FOR EACH STATEMENT EXECUTE FUNCTION carillon_test.stop()");
        }
        clear = tables.stream().map(RaceTables::clearing).collect(Collectors.joining("; "))
                + "; ALTER SEQUENCE carillon.gate_position_seq RESTART";
        dumpSql = tables.stream().map(RaceTables::dumpSqlOf).collect(Collectors.joining(" UNION ALL "));
    }

    private static String clearing(String table) {
        if (table.equals("event_dispatch"))
            return "UPDATE carillon.event_dispatch SET snapshot = 0, seq = 9223372036854775807, version = 1";
        return "DELETE FROM carillon." + table + (table.equals("project") ? " WHERE project <> 'default'" : "");
    }

    /**
     * Returns the query that dumps a table. Of {@code gate_position} only the order is compared; of claim records only
     * the runs of each node and number.
     */
    private static String dumpSqlOf(String table) {
        if (table.equals("claim_record"))
            return "SELECT DISTINCT 'claim_record ' || node || ' ' || claim_number || ' ' || run_id"
                    + " FROM carillon.claim_record, unnest(run_ids) AS run_id";
        String place = table.equals("run")
                ? " - 'gate_position' || jsonb_build_object('place', CASE WHEN t.gate_position IS NOT NULL THEN rank()"
                        + " OVER (PARTITION BY t.gate_key ORDER BY t.gate_position) END)"
                : "";
        // The run that a death is attributed to matters only while the dead node holds that run; no statement
        // reads it afterwards.
        if (table.equals("node"))
            place = " - 'probable_cause_run_id' || jsonb_build_object('probable_cause_run_id', (SELECT r.id"
                    + " FROM carillon.run r WHERE r.id = t.probable_cause_run_id AND r.owner = t.id))";
        // These values only grow, also from one race to the next.
        if (table.equals("event_store")) place = " - 'seq' - 'xid'";
        if (table.equals("event_snapshot")) place = " - 'transactions'";
        if (table.equals("event_dispatch")) place = " - 'version'";
        if (table.equals("event_epoch")) place = " - 'xid_offset'";
        if (table.equals("event_subscription")) place = " - 'cursor_number'";
        if (table.equals("event_cursor")) place = " || jsonb_build_object('replay', greatest(t.replay, 0))";
        // A rate gate without starts equals a missing one: the promotion of a run creates it.
        String some = table.equals("gate")
                ? " WHERE NOT (t.kind = 'rate' AND t.passed_unclaimed = 0 AND t.recent_starts = '{}')"
                : "";
        // A cursor without a subscription is ignored and removed later.
        if (table.equals("event_cursor"))
            some = " WHERE EXISTS (SELECT 1 FROM carillon.event_subscription s WHERE s.project = t.project"
                    + " AND s.name = t.name AND (t.replay > 0 OR t.replay = s.cursor_number))";
        return "SELECT '" + table + " ' || jsonb_strip_nulls(to_jsonb(t)" + place + ")::text FROM carillon." + table
                + " t" + some;
    }

    void clear() throws SQLException {
        try (Statement statement = monitor.createStatement()) {
            statement.execute(clear);
        }
    }

    /**
     * Returns one line for each row, sorted. Known ids are replaced by their names in the race, all others are masked.
     */
    List<String> dump(Map<String, String> names) throws SQLException {
        try (Statement statement = monitor.createStatement();
                ResultSet rows = statement.executeQuery(dumpSql)) {
            Map<String, Integer> lines = new TreeMap<>();
            while (rows.next()) lines.merge(masked(rows.getString(1), names), 1, Integer::sum);
            return lines.entrySet().stream()
                    .map(line -> line.getValue() == 1 ? line.getKey() : line.getValue() + " x " + line.getKey())
                    .toList();
        }
    }

    static String masked(String text, Map<String, String> names) {
        return ID.matcher(text).replaceAll(id -> Matcher.quoteReplacement(names.getOrDefault(id.group(), "?")));
    }

    /** Returns whether one of the waiting processes waits for a lock of one of the holding processes. */
    boolean waits(Integer[] waiting, Integer[] holding) throws SQLException {
        try (PreparedStatement statement = monitor.prepareStatement(WAITS)) {
            statement.setArray(1, monitor.createArrayOf("int4", waiting));
            statement.setArray(2, monitor.createArrayOf("int4", holding));
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                return rows.getBoolean(1);
            }
        }
    }

    /** Makes the selected statement stop from now on. */
    void stop() throws SQLException {
        call("SELECT pg_advisory_lock(" + STOP_LOCK + ")");
    }

    void release() throws SQLException {
        call("SELECT pg_advisory_unlock_all()");
    }

    boolean stopped(Integer[] waiting) throws SQLException {
        return waits(waiting, new Integer[] {backend});
    }

    private void call(String sql) throws SQLException {
        try (Statement statement = monitor.createStatement()) {
            statement.execute(sql);
        }
    }

    @Override
    public void close() throws SQLException {
        monitor.close();
    }
}
