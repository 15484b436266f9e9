package io.carillon.it.statement;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Paused schedules cost planning nothing, although their next instants have passed long ago. */
class PausedSchedulePagesTest {
    private static final int MAX_PAGES = 50;

    // Ten schedules are enabled and due; the instants of all others are earlier, so that a scan in the order of the
    // instants would meet the paused ones first.
    private static final String FILL = """
            INSERT INTO carillon.schedule (project, id, name, kind, expression, zone, gap, repeat, queue, priority,
              target, target_name, payload, codec, missed, missed_cap, missed_spread, grace, catch_up, overlap, cursor,
              next_at, tzdata, paused_at, paused_by)
            SELECT 'default', gen_random_uuid(), 's' || i, 'cron', '* * * * *', 'UTC', 'run-after', 'first', 'mail', 1,
                   'handler', 'mail.send', '{}', 'json', 'run-once', 100, '0', '5 min', '24 h', 'allow', at, at, 'x',
                   CASE WHEN i > 10 THEN at END, CASE WHEN i > 10 THEN 'ann' END
              FROM (SELECT i, carillon.clock() - i * interval '1 minute' AS at FROM generate_series(1, 10010) i) x
            """;

    private final TestDatabase database = TestDatabase.migrated();

    @AfterEach
    void close() {
        database.close();
    }

    @Test
    void due_schedules_are_found_in_few_pages_beside_ten_thousand_paused_ones() throws SQLException {
        database.execute(FILL);
        // Without this vacuum the page counts would include visibility checks that autovacuum makes unnecessary.
        database.execute("VACUUM ANALYZE carillon.schedule");

        try (Connection connection = database.dataSource().getConnection()) {
            List<String> due = GenericPlan.of(connection, "PlanRepository.DUE", true);
            assertThat(due.get(0)).containsPattern("actual time=\\S+ rows=10(\\.00)? loops=1");
            assertThat(String.join("\n", due)).contains("schedule_next").doesNotContain("Seq Scan on schedule");
            for (String statement :
                    List.of("PlanRepository.DUE", "PlanRepository.COUNT_BEHIND", "PlanRepository.HAS_WORK"))
                assertThat(GenericPlan.pages(connection, statement))
                        .as(statement)
                        .isLessThan(MAX_PAGES);
            assertThat(entries(connection)).as("entries of the index").isEqualTo(10);
        }
    }

    /** Returns the number of entries in the index of due schedules, as counted when it is built again. */
    private static long entries(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("REINDEX INDEX carillon.schedule_next");
            try (ResultSet rows = statement.executeQuery(
                    "SELECT reltuples::bigint FROM pg_class WHERE oid = 'carillon.schedule_next'::regclass")) {
                rows.next();
                return rows.getLong(1);
            }
        }
    }
}
