package io.carillon.it.statement;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.postgres.PostgresStorage;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.store.Storage;
import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Listing the queues of a project reads few pages, although a thousand other projects have ten thousand queues and
 * limits.
 */
class QueuePagesTest {
    private static final TestDatabase DATABASE = TestDatabase.migrated();
    /** A project with six queues; each costs a few pages. */
    private static final int MAX_PAGES = 80;

    /** A project with 200 queues and 10,001 runs. */
    private static final int MAX_PAGES_OF_NAMES = 1_500;

    private static final String FILL = """
            INSERT INTO carillon.run (project, id, queue, priority, due_at, ready_at, day, origin, target, target_name,
              codec, payload)
            SELECT %s, gen_random_uuid(), 'q' || i %% %d, 1, at, at, (at AT TIME ZONE 'UTC')::date, 'direct', 'handler',
              'mail.send', 'json', ''
              FROM (SELECT i, carillon.clock() - i * interval '1 ms' AS at FROM generate_series(1, %d) i) x
            """;

    @BeforeAll
    static void fill() {
        DATABASE.execute(FILL.formatted("'p' || i % 1000", 10_000, 40_000));
        DATABASE.execute(FILL.formatted("'large'", 200, 10_001));
        DATABASE.execute(FILL.formatted("'default'", 5, 30));
        DATABASE.execute(
                "INSERT INTO carillon.lane (queue, project, max_running) VALUES ('limited', 'default', 3), ('q9', 'p9',"
                        + " 3)");
        DATABASE.execute("INSERT INTO carillon.lane (queue, project, max_running)"
                + " SELECT 'paid' || i, 'p' || i % 1000, 3 FROM generate_series(1, 10000) i");
        // Without this vacuum the page counts would include visibility checks that autovacuum makes unnecessary.
        DATABASE.execute("VACUUM carillon.run");
    }

    @AfterAll
    static void close() {
        DATABASE.close();
    }

    @Test
    void lists_all_queues_of_a_project_and_no_other() {
        try (Storage storage = new PostgresStorage(DATABASE.dataSource(), TickPlanner.defaults())) {
            assertThat(queues(storage, "default")).containsExactly("limited", "q0", "q1", "q2", "q3", "q4");
            assertThat(queues(storage, "large")).hasSize(200);
            assertThat(queues(storage, "p9")).hasSize(20).contains("q9", "paid9");
            assertThat(queues(storage, "none")).isEmpty();
        }
    }

    private static List<String> queues(Storage storage, String project) {
        return storage.lanes().list(project).stream()
                .map(lane -> lane.lane().queue())
                .toList();
    }

    @Test
    void reads_few_pages_with_and_without_statistics() throws SQLException {
        try (Connection connection = DATABASE.dataSource().getConnection()) {
            assertThat(GenericPlan.pages(connection, "LaneRepository.LIST")).isLessThan(MAX_PAGES);
            DATABASE.execute("ANALYZE carillon.run");
            assertThat(GenericPlan.pages(connection, "LaneRepository.LIST")).isLessThan(MAX_PAGES);
        }
    }

    @Test
    void the_names_of_a_large_project_cost_its_own_queues_only() throws SQLException {
        try (Connection connection = DATABASE.dataSource().getConnection()) {
            assertThat(GenericPlan.pagesOfQuery(connection, "SELECT carillon.queue_names('large')"))
                    .isLessThan(MAX_PAGES_OF_NAMES);
        }
    }

    @Test
    void reads_few_pages_under_row_level_security() throws SQLException {
        try (Connection connection = DATABASE.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SET carillon.project = 'default'");
            statement.execute("SET ROLE carillon_api");
            assertThat(GenericPlan.pages(connection, "LaneRepository.LIST")).isLessThan(MAX_PAGES);
        }
    }
}
