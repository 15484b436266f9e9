package io.carillon.it.statement;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.QueueLimits;
import io.carillon.internal.postgres.PostgresStorage;
import io.carillon.internal.run.Lane;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.run.LaneInfo;
import io.carillon.testkit.QueryResult;
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

    /** 10,000 rows of a project with 40,000 runs in four queues, about 15 on a page. */
    private static final int MAX_PAGES_OF_COUNTS = 3_000;

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
        DATABASE.execute(FILL.formatted("'deep'", 4, 40_000));
        DATABASE.execute("UPDATE carillon.run SET queue = 'small' WHERE project = 'deep' AND id IN"
                + " (SELECT id FROM carillon.run WHERE project = 'deep' AND queue = 'q3' LIMIT 7)");
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

    private static LaneInfo.Counts numbers(LaneInfo lane) {
        LaneInfo.Counts counts = lane.counts();
        return new LaneInfo.Counts(counts.waiting(), counts.running(), counts.complete(), null);
    }

    @Test
    void counts_at_most_10000_runs_of_all_queues_and_small_queues_exactly() {
        try (Storage storage = new PostgresStorage(DATABASE.dataSource(), TickPlanner.defaults())) {
            List<LaneInfo> lanes = storage.lanes().list("deep");

            assertThat(lanes).extracting(lane -> lane.lane().queue()).containsExactly("q0", "q1", "q2", "q3", "small");
            assertThat(numbers(lanes.get(4))).isEqualTo(new LaneInfo.Counts(7, 0, true, null));
            assertThat(lanes.subList(0, 4)).allSatisfy(lane -> {
                assertThat(lane.counts().complete()).isFalse();
                assertThat(lane.counts().waiting()).isGreaterThan(1_000);
            });
            assertThat(lanes.stream().mapToLong(lane -> lane.counts().waiting()).sum())
                    .isBetween(5_000L, 10_000L);
        }
    }

    @Test
    void only_the_first_row_of_the_queue_head_contains_the_settings_of_all_queues() {
        String head = Statements.text("LaneRepository.QUEUE_HEAD").replace(":readyFrom", "'-infinity'");

        QueryResult rows = DATABASE.query("SELECT count(*) AS rows, count(limited_queues) AS settings FROM ("
                + head.replace("lane.*", "lane.queue") + ") head");

        assertThat(rows.rows()).containsExactly(List.of("200", "1"));
    }

    @Test
    void the_list_of_a_project_with_very_many_queues_ends_at_a_thousand() throws SQLException {
        DATABASE.execute(FILL.formatted("'branching'", 1_500, 1_500));
        DATABASE.execute("INSERT INTO carillon.lane (queue, project, max_running)"
                + " SELECT 'set' || i, 'branching', 3 FROM generate_series(1, 1500) i");
        try (Storage storage = new PostgresStorage(DATABASE.dataSource(), TickPlanner.defaults())) {
            assertThat(queues(storage, "branching")).hasSize(1_000).isSorted().contains("q0");
        } finally {
            DATABASE.execute("DELETE FROM carillon.run WHERE project = 'branching';"
                    + " DELETE FROM carillon.lane WHERE project = 'branching'");
            DATABASE.execute("VACUUM carillon.run");
        }
    }

    @Test
    void one_queue_is_read_without_the_others() throws SQLException {
        try (Storage storage = new PostgresStorage(DATABASE.dataSource(), TickPlanner.defaults());
                Connection connection = DATABASE.dataSource().getConnection()) {
            assertThat(storage.lanes().find(new Lane("q0", "deep")))
                    .map(QueuePagesTest::numbers)
                    .contains(new LaneInfo.Counts(10_000, 0, false, null));
            assertThat(storage.lanes().find(new Lane("q19", "large")))
                    .map(QueuePagesTest::numbers)
                    .contains(new LaneInfo.Counts(50, 0, true, null));
            assertThat(storage.lanes().find(new Lane("limited", "default")))
                    .map(LaneInfo::limits)
                    .contains(new QueueLimits(3, null));
            assertThat(storage.lanes().find(new Lane("q9", "default"))).isEmpty();
            assertThat(GenericPlan.pages(connection, "LaneRepository.FIND")).isLessThan(20);
        }
    }

    @Test
    void the_counts_of_large_queues_read_few_pages() throws SQLException {
        try (Connection connection = DATABASE.dataSource().getConnection()) {
            assertThat(GenericPlan.pagesOfQuery(
                            connection,
                            "SELECT * FROM carillon.count_runs_of_queues('deep', '{q0,q1,q2,q3,small}', 10000)"))
                    .isLessThan(MAX_PAGES_OF_COUNTS);
        }
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
            assertThat(GenericPlan.pagesOfQuery(connection, "SELECT carillon.queue_names('large', 1000)"))
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
