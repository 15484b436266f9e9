package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;

/** Runs that are set aside because no living node has their handler cost the gate of their key nothing, however many there are. */
class SetAsidePagesTest {
    private static final int PAGES = 100;

    // The gate that statements are explained with.
    private static final String FILL = """
            INSERT INTO carillon.run (project, id, queue, class, due_at, ready_at, day, origin, target, target_name, codec, payload, gate_key, gate_max, parked, seq)
            SELECT 'default', gen_random_uuid(), 'mail', 1, at, 'infinity', (at AT TIME ZONE 'UTC')::date, 'direct', 'handler',
                   CASE WHEN i <= 3 THEN 'mail.send' ELSE 'rare.work' END, 'json', '', 'overlap:00000000-0000-7000-8000-000000000009', 2,
                   CASE WHEN i <= 3 THEN 'gate' ELSE 'no-handler' END, CASE WHEN i <= 3 THEN i ELSE 9223372036854775807 END
              FROM (SELECT i, carillon.clock() AS at FROM generate_series(1, 20000) i) x
            """;

    @Test
    void a_gate_reads_those_in_line_whether_or_not_there_are_statistics() throws SQLException {
        try (TestDatabase database = TestDatabase.migrated();
                Connection connection = database.dataSource().getConnection()) {
            database.execute(FILL);
            database.execute("VACUUM carillon.run");
            for (int i = 0; i < 2; i++) {
                assertThat(GenericPlan.pages(connection, "GateRepository.OPEN")).isLessThan(PAGES);
                assertThat(GenericPlan.pages(connection, "GateRepository.PASS")).isLessThan(PAGES);
                database.execute("ANALYZE carillon.run");
            }
        }
    }
}
