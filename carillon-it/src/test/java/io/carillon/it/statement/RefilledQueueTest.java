package io.carillon.it.statement;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A queue that was full, ran empty, was analyzed and is full again. The planner's statistics say that it is empty, but
 * queries with a limit must still read no more rows than their limit.
 */
class RefilledQueueTest {
    private static final String FILL = """
            INSERT INTO carillon.run (project, id, queue, priority, due_at, ready_at, day, origin, target, target_name,
              codec, payload)
            SELECT 'default', gen_random_uuid(), 'mail', 1, due, due, due::date, 'direct', 'handler', 'mail.send',
              'json', 'x'
              FROM (SELECT carillon.clock() + i * interval '1 ms' AS due FROM generate_series(-20000, 10000) i) x
            """;

    private static final String READ = """
            SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables
             WHERE schemaname = 'carillon' AND relname = 'run'
            """;

    private static final String NODE = "00000000-0000-7000-8000-000000000001";

    private static final TestDatabase DATABASE = TestDatabase.migrated();

    @BeforeAll
    static void fillEmptyAndRefill() throws SQLException {
        try (Connection connection = DATABASE.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            // Rows on pages that autovacuum marked as all-visible are not fetched and would not be counted.
            statement.execute("ALTER TABLE carillon.run SET (autovacuum_enabled = off)");
            statement.execute(FILL);
            statement.execute("ANALYZE carillon.run");
            statement.execute("DELETE FROM carillon.run");
            statement.execute("VACUUM ANALYZE carillon.run");
            statement.execute(FILL);
            statement.execute(FILL.replace("'default'", "'other'").replace("-20000, 10000", "1, 3"));
        }
    }

    @AfterAll
    static void close() {
        DATABASE.close();
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource(delimiter = '|', textBlock = """
                    one | 50 | claim_candidates('mail', 'default', 1::smallint, '-infinity', 50, '{mail.send}', '{}')
                    any | 60 | claim_candidates('mail', 'default', 1::smallint, '-infinity', 50, '{}', '{}')
                    lanes | 50 | claim_candidates('{mail}', '{default}', '{1}'::smallint[], '{-infinity}', '{50}', \
                    '{mail.send}', '{}')
                    heads | 300 | queue_head('-infinity', 200, 100)
                    handlers | 2 | handlers_in_lane('mail', 'default', 1::smallint)
                    count | 50 | count_live_runs('default', null, 50)
                    count of a queue | 50 | count_live_runs('default', 'mail', 50)
                    count of another project | 3 | count_live_runs('other', null, 50)
                    counts of queues | 51 | count_runs_of_queues('default', '{mail,paid}', 50)
                    count of waiting runs | 50 | count_runs('default', null, null, 'waiting', 50)
                    """)
    void a_limited_query_reads_no_more_than_its_limit(String name, int most, String call) throws SQLException {
        try (Connection connection = DATABASE.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            long before = read(statement);
            statement.execute("SELECT * FROM carillon." + call);
            assertThat(read(statement) - before).as(name).isBetween(1L, (long) most);
            connection.rollback();
        }
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(
            strings = {
                "end_attempts(:fence, true)",
                "end_attempts(:fence, false)",
                "retry_attempts(:fence, true, array_fill(true, ARRAY[:n]), array_fill(1::float8, ARRAY[:n]))",
                "keep_attempts_open(:fence, true, array_fill(1::float8, ARRAY[:n]))",
                "hand_back_attempts(:fence, true, array_fill(false, ARRAY[:n]))",
                "park_attempts(:fence)",
                "release_attempts_without_handler(:fence)",
                "end_waiting_runs(:runs, true)",
                "end_waiting_runs(:runs, false)"
            })
    void fenced_writes_read_only_what_they_write(String function) throws SQLException {
        for (int count : new int[] {1, 1_000}) {
            try (Connection connection = DATABASE.dataSource().getConnection();
                    Statement statement = connection.createStatement()) {
                connection.setAutoCommit(false);
                statement.execute(
                        "CREATE TEMP TABLE asked ON COMMIT DROP AS SELECT project, id FROM carillon.run ORDER BY id"
                                + " LIMIT "
                                + count);
                if (!function.startsWith("end_waiting_runs"))
                    statement.execute("UPDATE carillon.run r SET owner = '" + NODE
                            + "' FROM asked a WHERE r.project = a.project AND r.id = a.id");
                String runs = "(SELECT array_agg(project ORDER BY id) FROM asked), (SELECT array_agg(id ORDER BY id)"
                        + " FROM asked)";
                String call = function.replace(":fence", "'" + NODE + "', " + runs + ", array_fill(0, ARRAY[:n])")
                        .replace(":runs", runs)
                        .replace(":n", Integer.toString(count));
                long before = read(statement);
                int rows = 0;
                try (ResultSet found = statement.executeQuery("SELECT * FROM carillon." + call)) {
                    while (found.next()) rows++;
                }
                assertThat(rows).isEqualTo(count);
                assertThat(read(statement) - before)
                        .as(function + " of " + count)
                        .isBetween(1L, 2L * count + 10);
                connection.rollback();
                connection.setAutoCommit(true);
            }
        }
    }

    /** Returns the number of rows of the table that this session read in its transaction. */
    private static long read(Statement statement) throws SQLException {
        try (ResultSet read = statement.executeQuery(READ)) {
            return read.next() ? read.getLong(1) : 0;
        }
    }
}
