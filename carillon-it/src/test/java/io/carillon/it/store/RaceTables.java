package io.carillon.it.store;

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
 * All tables of a race's database: emptied, printed without what differs from one time to the next, and watched for who waits for whom. A trigger on each of
 * them can stop a statement after its snapshot was taken and before it reads a row: what commits meanwhile is newer than the statement's snapshot.
 */
final class RaceTables implements AutoCloseable {
    private static final long STOP = 4_711;

    private static final String TABLES = """
            SELECT relname FROM pg_class
             WHERE relnamespace = 'carillon'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> 'migration'
             ORDER BY relname = 'project', relname
            """;

    private static final String STOPPING = """
            CREATE FUNCTION carillon_test.stop() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
              IF current_setting('%s', true) = 'on' THEN
                PERFORM pg_advisory_lock_shared(%d);
                PERFORM pg_advisory_unlock_shared(%d);
              END IF;
              RETURN NULL;
            END $$
            """.formatted(StatementHold.STOP_SETTING, STOP, STOP);

    private static final String WAITS =
            "SELECT EXISTS (SELECT 1 FROM unnest(?::int[]) AS waiting(pid) WHERE pg_blocking_pids(waiting.pid) && ?::int[])";

    private static final Pattern ID =
            Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|run_[0-9a-hjkmnp-tv-z]{26}");

    private final Connection monitor;
    private final int backend;
    private final String clear;
    private final String print;

    RaceTables(PostgresBench bench) throws SQLException {
        List<String> tables = bench.rows().texts(TABLES);
        monitor = bench.open();
        backend = monitor.unwrap(org.postgresql.PGConnection.class).getBackendPID();
        try (Statement statement = monitor.createStatement()) {
            statement.execute(STOPPING);
            for (String table : tables)
                statement.execute("CREATE TRIGGER stop BEFORE INSERT OR UPDATE OR DELETE ON carillon." + table
                        + " FOR EACH STATEMENT EXECUTE FUNCTION carillon_test.stop()");
        }
        clear = tables.stream().map(RaceTables::clearing).collect(Collectors.joining("; "))
                + "; ALTER SEQUENCE carillon.gate_seq RESTART";
        print = tables.stream().map(RaceTables::printing).collect(Collectors.joining(" UNION ALL "));
    }

    private static String clearing(String table) {
        return "DELETE FROM carillon." + table + (table.equals("project") ? " WHERE project <> 'default'" : "");
    }

    /** Of a place in line only the order counts, and of notes which runs a node noted under which number. */
    private static String printing(String table) {
        if (table.equals("claim_note"))
            return "SELECT DISTINCT 'claim_note ' || node || ' ' || seq || ' ' || noted FROM carillon.claim_note, unnest(ids) AS noted";
        String place = table.equals("run")
                ? " - 'seq' || jsonb_build_object('place', CASE WHEN t.seq IS NOT NULL THEN rank() OVER (PARTITION BY t.gate_key ORDER BY t.seq) END)"
                : "";
        // Which run a death is put down to matters as long as the dead node holds that run: nothing reads it
        // afterwards.
        if (table.equals("node"))
            place =
                    " - 'sole_run' || jsonb_build_object('sole_run', (SELECT r.id FROM carillon.run r WHERE r.id = t.sole_run AND r.owner = t.id))";
        // A rate key without starts is as good as none: whoever lets a run start writes it.
        String some = table.equals("gate") ? " WHERE NOT (t.kind = 'rate' AND t.live = 0 AND t.starts = '{}')" : "";
        return "SELECT '" + table + " ' || jsonb_strip_nulls(to_jsonb(t)" + place + ")::text FROM carillon." + table
                + " t" + some;
    }

    void clear() throws SQLException {
        try (Statement statement = monitor.createStatement()) {
            statement.execute(clear);
        }
    }

    /** One line for each row, sorted; ids are replaced by the names they have in the scene, all others masked. */
    List<String> print(Map<String, String> names) throws SQLException {
        try (Statement statement = monitor.createStatement();
                ResultSet rows = statement.executeQuery(print)) {
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

    /** Whether one of these processes waits for a lock that one of those has. */
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

    /** From now on statements that are to stop do. */
    void stop() throws SQLException {
        call("SELECT pg_advisory_lock(" + STOP + ")");
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
