package io.carillon.it.statement;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;

/**
 * Runs that are parked because no live node has their handler add no cost to the gate of their key, however
 * many there are.
 */
class RunsWithoutHandlerPagesTest {
    private static final int MAX_PAGES = 100;

    // Uses the gate key of the sample values in GenericPlan.
    private static final String FILL = """
            INSERT INTO carillon.run (project, id, queue, priority, due_at, ready_at, day, origin, target, target_name,
              codec, payload, gate_key, gate_limit, parked, gate_position)
            SELECT 'default', gen_random_uuid(), 'mail', 1, at, 'infinity', (at AT TIME ZONE 'UTC')::date, 'direct',
                   'handler',
                   CASE WHEN i <= 3 THEN 'mail.send' ELSE 'rare.work' END, 'json', '',
                   'overlap:00000000-0000-7000-8000-000000000009', 2,
                   CASE WHEN i <= 3 THEN 'gate' ELSE 'no-handler' END, CASE WHEN i <= 3 THEN i
                     ELSE 9223372036854775807 END
              FROM (SELECT i, carillon.clock() AS at FROM generate_series(1, 20000) i) x
            """;

    @Test
    void a_gate_reads_only_its_waiting_runs_with_and_without_statistics() throws SQLException {
        try (TestDatabase database = TestDatabase.migrated();
                Connection connection = database.dataSource().getConnection()) {
            database.execute(FILL);
            database.execute("VACUUM carillon.run");
            for (int i = 0; i < 2; i++) {
                assertThat(GenericPlan.pages(connection, "GateRepository.FIND_OPEN"))
                        .isLessThan(MAX_PAGES);
                assertThat(GenericPlan.pages(connection, "GateRepository.PASS")).isLessThan(MAX_PAGES);
                database.execute("ANALYZE carillon.run");
            }
        }
    }
}
