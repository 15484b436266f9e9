package io.carillon.it.statement;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The count of a dry run and a chunk of a bulk action read a bounded number of rows, although 100,000 runs of the
 * project do not match.
 */
class CountPagesTest {
    private static final TestDatabase DATABASE = TestDatabase.migrated();

    /** 10,000 rows of runs, about 15 on a page. */
    private static final int MAX_PAGES = 1_500;

    /** Queue, handler and state. No run matches. */
    private static final List<String> FILTERS = List.of(
            "null, 'rare', 'waiting'",
            "null, null, 'running'",
            "'mail', 'rare', 'waiting'",
            "'mail', null, 'running'",
            "null, 'rare', 'dead'",
            "'mail', null, 'quarantined'");

    private static final String ROWS = """
            SELECT ('00000000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid AS id, carillon.clock() AS at
              FROM generate_series(1, 100000) i
            """;

    @BeforeAll
    static void fill() {
        DATABASE.execute("""
                INSERT INTO carillon.run (project, id, queue, priority, due_at, ready_at, day, origin, target,
                  target_name, codec, payload)
                SELECT 'default', id, 'mail', 1, at, at, (at AT TIME ZONE 'UTC')::date, 'direct', 'handler',
                  'mail.send', 'json', '' FROM (
                """ + ROWS + ") r");
        DATABASE.execute("""
                INSERT INTO carillon.dead_run (project, id, state, queue, priority, attempt, failures, crashes, due_at,
                  origin, target, target_name, codec, payload, died_at)
                SELECT 'default', id, 'dead', 'mail', 1, 1, 1, 0, at, 'direct', 'handler', 'mail.send', 'json', '', at
                  FROM (
                """ + ROWS + ") r");
        DATABASE.execute("VACUUM carillon.run");
        DATABASE.execute("VACUUM carillon.dead_run");
    }

    @AfterAll
    static void close() {
        DATABASE.close();
    }

    @Test
    void reads_few_pages_with_and_without_statistics() throws SQLException {
        try (Connection connection = DATABASE.dataSource().getConnection()) {
            everyCountReadsFewPages(connection);
            DATABASE.execute("ANALYZE carillon.run");
            DATABASE.execute("ANALYZE carillon.dead_run");
            everyCountReadsFewPages(connection);
        }
    }

    @Test
    void reads_few_pages_under_row_level_security() throws SQLException {
        try (Connection connection = DATABASE.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SET carillon.project = 'default'");
            statement.execute("SET ROLE carillon_api");
            everyCountReadsFewPages(connection);
        }
    }

    @Test
    void a_chunk_of_a_bulk_action_reads_few_pages() throws SQLException {
        try (Connection connection = DATABASE.dataSource().getConnection()) {
            for (String filter : FILTERS) {
                String page = """
                        SELECT * FROM carillon.bulk_page('default', '00000000-0000-7000-8000-00000000c350',
                          'ffffffff-ffff-ffff-ffff-ffffffffffff', carillon.clock(), %s, 5000, 1000)
                        """.formatted(filter);
                assertThat(GenericPlan.pagesOfQuery(connection, page))
                        .as("pages read by %s", page)
                        .isLessThan(MAX_PAGES / 2);
            }
            for (boolean dead : new boolean[] {false, true})
                assertThat(GenericPlan.pagesOfQuery(
                                connection, "SELECT carillon.last_run_id('default', %s)".formatted(dead)))
                        .isLessThan(20);
        }
    }

    /** The statistics know one project and one queue, so every plan expects that all rows match. */
    @Test
    void the_count_for_a_quota_reads_the_runs_of_its_project_only_although_the_statistics_are_old()
            throws SQLException {
        try (Connection connection = DATABASE.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            // The connection may have the role of another test.
            statement.execute("DISCARD ALL");
            statement.execute("SET plan_cache_mode = force_generic_plan");
            DATABASE.execute("ANALYZE carillon.run");
            DATABASE.execute("""
                    INSERT INTO carillon.run (project, id, queue, priority, due_at, ready_at, day, origin, target,
                      target_name, codec, payload)
                    SELECT 'small', id, 'small', 1, at, at, (at AT TIME ZONE 'UTC')::date, 'direct', 'handler',
                      'mail.send', 'json', '' FROM (
                    """ + ROWS + " LIMIT 3) r");
            for (String count : List.of("'small', null", "'small', 'small'", "'default', 'small'", "'none', null"))
                assertThat(GenericPlan.pagesOfQuery(
                                connection, "SELECT carillon.count_live_runs(%s, 10000)".formatted(count)))
                        .as(count)
                        .isLessThan(20);
            assertThat(GenericPlan.pagesOfQuery(
                            connection,
                            "SELECT * FROM carillon.count_runs_of_queues('default', '{small,none}', 10000)"))
                    .isLessThan(30);
            assertThat(GenericPlan.pagesOfQuery(connection, "SELECT carillon.count_live_runs('default', null, 10000)"))
                    .isLessThan(MAX_PAGES);
            statement.execute("DISCARD ALL");
        }
    }

    private static void everyCountReadsFewPages(Connection connection) throws SQLException {
        for (String filter : FILTERS) {
            String count = "SELECT * FROM carillon.count_runs('default', %s, 10000)".formatted(filter);
            assertThat(GenericPlan.pagesOfQuery(connection, count))
                    .as("pages read by %s", count)
                    .isLessThan(MAX_PAGES);
        }
    }
}
