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
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A page of the run list reads only the rows it shows, however many runs its project and other projects have. */
class HistoryPagesTest {
    private static final TestDatabase DATABASE = TestDatabase.migrated();

    /** 51 rows, plus one index descent in each partition that is kept. */
    private static final int MAX_PAGES = 300;

    private static final Pattern BUFFERS = Pattern.compile("Buffers: shared(?: hit=(\\d+))?(?: read=(\\d+))?.*");

    private static final Pattern PARAMETER = Pattern.compile("(?<!:):[a-z]+");

    private static final List<String> STATEMENTS =
            List.of("RunRows.PAGE_LIVE", "RunRows.PAGE_ENDED", "RunRows.SELECT_ENDED");

    // One row in four belongs to the project; the rows of 400 other projects lie between them.
    private static final String ROWS = """
            SELECT CASE WHEN i % 4 = 0 THEN 'default' ELSE 'other-' || i % 401 END AS project,
                   (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7'
                     || lpad(to_hex(i % 4096), 3, '0') || '8000' || lpad(to_hex(i), 12, '0'))::uuid AS id, at
              FROM (SELECT i, carillon.clock() - i * interval '12 s' AS at FROM generate_series(1, 100000) i) x
            """;

    @BeforeAll
    static void fill() {
        DATABASE.execute("""
                DO $$ BEGIN FOR n IN 0..15 LOOP
                  EXECUTE format('CREATE TABLE IF NOT EXISTS carillon.run_history_%s PARTITION OF carillon.run_history'
                                   ' FOR VALUES FROM (%L) TO (%L)',
                                 to_char((carillon.clock() AT TIME ZONE 'UTC')::date - n, 'YYYYMMDD'),
                                 (carillon.clock() AT TIME ZONE 'UTC')::date - n,
                                 (carillon.clock() AT TIME ZONE 'UTC')::date - n + 1);
                END LOOP; END $$
                """);
        DATABASE.execute("""
                INSERT INTO carillon.run_history (project, id, day, queue, priority, node_deaths, crashes, attempt,
                  failures, due_at, started_at, ended_at,
                                                  created_at, state, origin, target, target_name)
                SELECT project, id, (at AT TIME ZONE 'UTC')::date, 'mail', 1, 0, 0, 1, 0, at, at, at, at, 'succeeded',
                  'direct', 'handler', 'mail.send' FROM (
                """ + ROWS + ") r");
        DATABASE.execute("""
                INSERT INTO carillon.run (project, id, queue, priority, due_at, ready_at, day, origin, target,
                  target_name, codec, payload)
                SELECT project, id, 'mail', 1, at, at, (at AT TIME ZONE 'UTC')::date, 'direct', 'handler', 'mail.send',
                  'json', '' FROM (
                """ + ROWS + ") r");
        // Without this vacuum the page counts would include visibility checks that autovacuum makes unnecessary.
        DATABASE.execute("VACUUM carillon.run");
        DATABASE.execute("VACUUM carillon.run_history");
    }

    @AfterAll
    static void close() {
        DATABASE.close();
    }

    @Test
    void reads_few_pages_with_and_without_statistics() throws SQLException {
        try (Connection connection = DATABASE.dataSource().getConnection()) {
            everyPageIsSmall(connection);
            DATABASE.execute("ANALYZE carillon.run");
            DATABASE.execute("ANALYZE carillon.run_history");
            everyPageIsSmall(connection);
        }
    }

    @Test
    void reads_few_pages_under_row_level_security() throws SQLException {
        try (Connection connection = DATABASE.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SET carillon.project = 'default'");
            statement.execute("SET ROLE carillon_api");
            everyPageIsSmall(connection);
        }
    }

    /** As event streams read them, every second. */
    @Test
    void the_latest_endings_read_few_pages_although_no_vacuum_has_seen_the_others() throws SQLException {
        try (TestDatabase database = TestDatabase.migrated();
                Storage storage = new PostgresStorage(database.dataSource(), TickPlanner.defaults());
                Connection connection = database.dataSource().getConnection()) {
            storage.maintenance().ensurePartitions(0);
            database.execute("""
                    INSERT INTO carillon.run_history (project, id, day, queue, priority, node_deaths, crashes, attempt,
                      failures, due_at, started_at, ended_at, created_at, state, origin, target, target_name)
                    SELECT 'default', gen_random_uuid(), (carillon.clock() AT TIME ZONE 'UTC')::date, 'mail', 1, 0, 0,
                      1, 0, at, at, at, at, 'succeeded', 'direct', 'handler', 'mail.send'
                      FROM (SELECT carillon.clock() - interval '1 min' AS at FROM generate_series(1, 50000)) x
                    """);
            database.execute("ANALYZE carillon.run_history");

            assertThat(storage.maintenance().summarizeHistory(1)).isPositive();

            // With the values that PostgreSQL sees: it plans these statements anew each time.
            Map<String, String> values = Map.of(
                    ":age", "5",
                    ":projects", "'{default}'",
                    ":project", "'default'",
                    ":at", "carillon.clock() - interval '5 s'",
                    ":id", "'00000000-0000-0000-0000-000000000000'",
                    ":limit", "5000");
            for (String name : List.of("ServerReads.PROJECTS_WITH_ENDED_RUNS", "ServerReads.ENDED_AFTER")) {
                String query =
                        PARAMETER.matcher(Statements.text(name)).replaceAll(parameter -> values.get(parameter.group()));
                assertThat(GenericPlan.pagesOfQuery(connection, query)).as(name).isLessThan(50);
            }
            assertThat(storage.maintenance().summarizeHistory(1)).isZero();
        }
    }

    private static void everyPageIsSmall(Connection connection) throws SQLException {
        for (String name : STATEMENTS) {
            // The first execution also reads catalog pages of each partition for the planner.
            GenericPlan.of(connection, name, true);
            List<String> plan = GenericPlan.of(connection, name, true);
            String buffers = plan.stream()
                    .map(String::strip)
                    .filter(line -> line.startsWith("Buffers:"))
                    .findFirst()
                    .orElseThrow();
            Matcher counted = BUFFERS.matcher(buffers);
            assertThat(counted.matches()).as(buffers).isTrue();
            assertThat(number(counted.group(1)) + number(counted.group(2)))
                    .as("pages read by %s%n%s", name, String.join("\n", plan))
                    .isLessThan(MAX_PAGES);
        }
    }

    private static int number(String text) {
        return text == null ? 0 : Integer.parseInt(text);
    }
}
