package io.carillon.it.store;

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

/**
 * A queue that was full, ran empty, was analyzed and is full again: to the planner it is empty. Whoever asks for the first of many still reads no more than
 * those.
 */
class FullAgainTest {
    private static final String FILL = """
            INSERT INTO carillon.run (project, id, queue, class, due_at, ready_at, day, origin, target, target_name, codec, payload)
            SELECT 'default', gen_random_uuid(), 'mail', 1, due, due, due::date, 'direct', 'handler', 'mail.send', 'json', 'x'
              FROM (SELECT carillon.clock() + i * interval '1 ms' AS due FROM generate_series(-20000, 10000) i) x
            """;

    private static final String READ = """
            SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables
             WHERE schemaname = 'carillon' AND relname = 'run'
            """;

    private static final TestDatabase DATABASE = TestDatabase.migrated();

    @BeforeAll
    static void full_empty_and_full_again() throws SQLException {
        try (Connection connection = DATABASE.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(FILL);
            statement.execute("ANALYZE carillon.run");
            statement.execute("DELETE FROM carillon.run");
            statement.execute("VACUUM ANALYZE carillon.run");
            statement.execute(FILL);
        }
    }

    @AfterAll
    static void close() {
        DATABASE.close();
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource(delimiter = '|', textBlock = """
                    pick    | 50  | SELECT * FROM carillon.pick('mail', 'default', 1::smallint, '-infinity', 50, '{}')
                    head    | 300 | SELECT * FROM carillon.head('-infinity', 200, 100)
                    lanes   | 1   | SELECT * FROM carillon.lanes()
                    scan    | 2   | SELECT * FROM carillon.scan()
                    held_by | 2001 | SELECT * FROM carillon.held_by('00000000-0000-7000-8000-000000000001')
                    """)
    void nobody_reads_more_than_the_first(String function, int most, String question) throws SQLException {
        try (Connection connection = DATABASE.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            long before = read(statement);
            statement.execute(question);
            assertThat(read(statement) - before).as(function).isBetween(1L, (long) most);
            connection.rollback();
        }
    }

    /** What this session read of the table and has not reported yet. */
    private static long read(Statement statement) throws SQLException {
        try (ResultSet read = statement.executeQuery(READ)) {
            return read.next() ? read.getLong(1) : 0;
        }
    }
}
