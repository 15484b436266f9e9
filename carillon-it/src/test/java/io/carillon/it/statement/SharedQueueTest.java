package io.carillon.it.statement;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A queue that several handlers share: the cost of a claim when the queue also contains runs of handlers that the node
 * does not have.
 */
class SharedQueueTest {
    // Runs of other handlers are older than all runs of our handler, and also lie between them.
    private static final String FILL = """
            INSERT INTO carillon.run (project, id, queue, priority, due_at, ready_at, day, origin, target, target_name,
              codec, payload)
            SELECT 'default', gen_random_uuid(), '%s', 1, due, due, due::date, 'direct', 'handler', '%s', 'json', 'x'
              FROM (SELECT carillon.clock() - interval '%d s' + random() * interval '60 s' AS due
                FROM generate_series(1, %d) i) x
            """;

    private static final String CLAIM = """
            EXPLAIN (ANALYZE, BUFFERS)
            UPDATE carillon.run SET owner = gen_random_uuid(), attempt = attempt + 1
             WHERE ctid = any(array(SELECT carillon.claim_candidates('%s', 'default', 1::smallint, '-infinity', 500,
               '{%s}', '{}')))
            """;

    private static final Pattern PAGES = Pattern.compile("Buffers: shared hit=(\\d+)(?: read=(\\d+))?");

    private final TestDatabase database = TestDatabase.migrated();

    @AfterEach
    void close() {
        database.close();
    }

    private void fill(String queue, String handler, int seconds, int runs) {
        database.execute(FILL.formatted(queue, handler, seconds, runs));
    }

    private record Cost(long pages, double millis) {}

    private Cost claim(String queue, String handler) throws SQLException {
        Cost last = new Cost(0, 0);
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            for (int turn = 0; turn < 3; turn++) {
                StringBuilder plan = new StringBuilder();
                try (ResultSet rows = statement.executeQuery(CLAIM.formatted(queue, handler))) {
                    while (rows.next()) plan.append(rows.getString(1)).append('\n');
                }
                connection.rollback();
                Matcher pages = PAGES.matcher(plan);
                assertThat(pages.find()).as(plan.toString()).isTrue();
                long read = pages.group(2) == null ? 0 : Long.parseLong(pages.group(2));
                double millis = Double.parseDouble(
                        plan.substring(plan.indexOf("Execution Time: ") + 16).replaceAll(" ms\\s*", ""));
                last = new Cost(Long.parseLong(pages.group(1)) + read, millis);
            }
        }
        return last;
    }

    private void costs_at_most_twice_as_much(int foreign) throws SQLException {
        fill("alone", "ours", 60, 2_000);
        fill("shared", "ours", 60, 2_000);
        fill("shared", "others", 120, foreign / 2);
        fill("shared", "theirs", 60, foreign / 2);
        database.execute("VACUUM ANALYZE carillon.run");

        Cost alone = claim("alone", "ours");
        Cost shared = claim("shared", "ours");
        Cost any = claim("alone", "");

        System.out.printf(
                "claim of 500 of 2,000 runs: alone %s, with %,d runs of other handlers %s, without handler name %s%n",
                alone, foreign, shared, any);
        assertThat(shared.pages()).isLessThanOrEqualTo(2 * alone.pages());
        assertThat(any.pages()).isLessThanOrEqualTo(2 * alone.pages());
    }

    @Test
    void a_claim_beside_many_runs_of_other_handlers_reads_at_most_twice_as_much() throws SQLException {
        costs_at_most_twice_as_much(20_000);
    }

    @Tag("slow")
    @Test
    void a_claim_beside_a_million_runs_of_other_handlers_reads_at_most_twice_as_much() throws SQLException {
        costs_at_most_twice_as_much(1_000_000);
    }
}
