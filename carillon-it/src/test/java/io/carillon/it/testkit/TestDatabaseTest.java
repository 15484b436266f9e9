package io.carillon.it.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TestDatabaseTest {
    private static final String DATABASES = "SELECT datname FROM pg_database";

    @Test
    void is_new_migrated_and_separate() throws Exception {
        try (TestDatabase one = TestDatabase.migrated();
                TestDatabase other = TestDatabase.migrated()) {
            one.execute("INSERT INTO carillon.project (project) VALUES ('mine')");

            assertThat(FirstColumn.of(one.dataSource(), "SELECT project FROM carillon.project"))
                    .containsExactlyInAnyOrder("default", "mine");
            assertThat(FirstColumn.of(other.dataSource(), "SELECT project FROM carillon.project"))
                    .containsExactly("default");
            assertThat(one.name()).isNotEqualTo(other.name());
        }
    }

    @Test
    void is_dropped_on_close_although_a_session_is_still_connected() throws Exception {
        TestDatabase closed = TestDatabase.empty();
        try (TestDatabase witness = TestDatabase.empty();
                Connection open = closed.dataSource().getConnection()) {
            assertThat(open.isValid(1)).isTrue();

            closed.close();

            assertThat(FirstColumn.of(witness.dataSource(), DATABASES))
                    .contains(witness.name())
                    .doesNotContain(closed.name());
            assertThatThrownBy(() -> closed.dataSource().getConnection()).hasMessageContaining("closed");
        }
    }

    @Test
    void returns_its_address() throws Exception {
        try (TestDatabase database = TestDatabase.empty();
                Connection connection =
                        DriverManager.getConnection(database.jdbcUrl(), database.user(), database.password())) {
            assertThat(connection.getCatalog()).isEqualTo(database.name());
        }
    }

    @Test
    void ends_all_sessions_and_its_pool_recovers() throws Exception {
        try (TestDatabase database = TestDatabase.empty()) {
            List<Connection> open = new ArrayList<>();
            for (int i = 0; i < 3; i++) open.add(database.dataSource().getConnection());

            assertThat(database.terminateSessions()).isEqualTo(3);

            for (Connection connection : open) {
                assertThatThrownBy(() -> FirstColumn.of(connection, "SELECT 1")).isInstanceOf(SQLException.class);
                connection.close();
            }
            for (int i = 0; i < 3; i++) {
                assertThat(FirstColumn.of(database.dataSource(), "SELECT 1")).containsExactly("1");
            }
        }
    }

    @Test
    void the_pool_returns_no_connection_that_died_while_idle() throws Exception {
        try (TestDatabase database = TestDatabase.empty()) {
            FirstColumn.of(database.dataSource(), "SELECT 1");

            assertThat(database.terminateSessions()).isEqualTo(1);

            assertThat(FirstColumn.of(database.dataSource(), "SELECT 1")).containsExactly("1");
        }
    }

    @Test
    void the_pool_reuses_a_connection_and_rolls_back_its_open_transaction() throws Exception {
        try (TestDatabase database = TestDatabase.empty()) {
            database.execute("CREATE TABLE t (x integer)");
            var pool = database.pool(1);
            String first;
            try (Connection connection = pool.getConnection()) {
                first = FirstColumn.of(connection, "SELECT pg_backend_pid()").get(0);
                connection.setAutoCommit(false);
                connection.createStatement().execute("INSERT INTO t VALUES (1)");
            }

            try (Connection connection = pool.getConnection()) {
                assertThat(connection.getAutoCommit()).isTrue();
                assertThat(FirstColumn.of(connection, "SELECT pg_backend_pid()"))
                        .containsExactly(first);
                assertThat(FirstColumn.of(connection, "SELECT x FROM t")).isEmpty();
            }
        }
    }

    @Test
    void clears_runs_and_schedules_and_keeps_projects_and_nodes() throws Exception {
        try (TestDatabase database = TestDatabase.migrated()) {
            SampleRuns runs = new SampleRuns(database);
            runs.waiting("mail.send", "k", 60);
            runs.ended("mail.send", "dead", "no address");
            database.execute("INSERT INTO carillon.node (id, name, host, pid, version, code, handlers, slots, wakeup)"
                    + " VALUES (gen_random_uuid(), 'n', 'h', 1, 'v', 1, '{}', 1, 'polling')");

            database.clear();

            assertThat(
                            FirstColumn.of(
                                    database.dataSource(),
                                    "SELECT id::text FROM carillon.run UNION ALL SELECT id::text FROM carillon.run_history UNION ALL SELECT id::text FROM carillon.dead_run"))
                    .isEmpty();
            assertThat(FirstColumn.of(
                            database.dataSource(),
                            "SELECT project FROM carillon.project UNION ALL SELECT name FROM carillon.node"))
                    .containsExactly("default", "n");
        }
    }
}
