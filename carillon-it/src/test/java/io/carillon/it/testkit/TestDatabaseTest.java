package io.carillon.it.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.CarillonException;
import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class TestDatabaseTest {
    private static final String DATABASES = "SELECT datname FROM pg_database";

    @Test
    void is_new_migrated_and_separate() throws Exception {
        try (TestDatabase one = TestDatabase.migrated();
                TestDatabase other = TestDatabase.migrated()) {
            one.execute("INSERT INTO carillon.project (project) VALUES ('mine')");

            assertThat(one.query("SELECT project FROM carillon.project").texts())
                    .containsExactlyInAnyOrder("default", "mine");
            assertThat(other.query("SELECT project FROM carillon.project").texts())
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

            assertThat(witness.query(DATABASES).texts())
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
                assertThatThrownBy(
                                () -> TestDatabase.query(connection, "SELECT 1").texts())
                        .isInstanceOf(SQLException.class);
                connection.close();
            }
            for (int i = 0; i < 3; i++) {
                assertThat(database.query("SELECT 1").texts()).containsExactly("1");
            }
        }
    }

    @Test
    void the_pool_returns_no_connection_that_died_while_idle() throws Exception {
        try (TestDatabase database = TestDatabase.empty()) {
            database.query("SELECT 1").texts();

            assertThat(database.terminateSessions()).isEqualTo(1);

            assertThat(database.query("SELECT 1").texts()).containsExactly("1");
        }
    }

    @Test
    void the_pool_reuses_a_connection_and_rolls_back_its_open_transaction() throws Exception {
        try (TestDatabase database = TestDatabase.empty()) {
            database.execute("CREATE TABLE t (x integer)");
            var pool = database.pool(1);
            String first;
            try (Connection connection = pool.getConnection()) {
                first = TestDatabase.query(connection, "SELECT pg_backend_pid()")
                        .texts()
                        .get(0);
                connection.setAutoCommit(false);
                connection.createStatement().execute("INSERT INTO t VALUES (1)");
            }

            try (Connection connection = pool.getConnection()) {
                assertThat(connection.getAutoCommit()).isTrue();
                assertThat(TestDatabase.query(connection, "SELECT pg_backend_pid()")
                                .texts())
                        .containsExactly(first);
                assertThat(TestDatabase.query(connection, "SELECT x FROM t").texts())
                        .isEmpty();
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

            assertThat(database.query("SELECT id::text FROM carillon.run UNION ALL SELECT id::text"
                                    + " FROM carillon.run_history UNION ALL SELECT id::text FROM carillon.dead_run")
                            .texts())
                    .isEmpty();
            assertThat(database.query("SELECT project FROM carillon.project UNION ALL SELECT name FROM carillon.node")
                            .texts())
                    .containsExactly("default", "n");
        }
    }

    @Test
    void a_query_returns_numbers_texts_and_rows() throws Exception {
        try (TestDatabase database = TestDatabase.empty()) {
            String rows = "SELECT * FROM (VALUES (1, 'a'), (2, NULL)) AS v (id, name) WHERE id >= ? ORDER BY id";

            assertThat(database.query("SELECT count(*) FROM unnest(?::text[])", (Object) new String[] {"a", "b"})
                            .number())
                    .isEqualTo(2);
            assertThat(database.query("SELECT NULL").text()).isNull();
            assertThat(database.query(rows, 1).texts()).containsExactly("1", "2");
            assertThat(database.query(rows, 1).rows()).containsExactly(List.of("1", "a"), Arrays.asList("2", null));
            assertThat(database.query(rows, 3).rows()).isEmpty();
        }
    }

    @Test
    void a_query_fails_if_the_only_value_is_not_there() throws Exception {
        try (TestDatabase database = TestDatabase.empty()) {
            for (String sql : List.of("SELECT 1 WHERE false", "SELECT generate_series(1, 2)", "SELECT 1, 2")) {
                assertThatThrownBy(() -> database.query(sql).text())
                        .isInstanceOf(AssertionError.class)
                        .hasMessageContaining("'" + sql + "'");
            }
            assertThatThrownBy(() -> database.query("SELECT NULL").number()).isInstanceOf(AssertionError.class);
            assertThatThrownBy(() -> database.query("SELECT x")).isInstanceOf(CarillonException.class);
        }
    }

    @Test
    void a_query_on_a_connection_reads_inside_its_transaction() throws Exception {
        try (TestDatabase database = TestDatabase.empty();
                Connection connection = database.dataSource().getConnection()) {
            database.execute("CREATE TABLE t (x integer)");
            connection.setAutoCommit(false);

            TestDatabase.query(connection, "INSERT INTO t VALUES (1) RETURNING x");

            assertThat(TestDatabase.query(connection, "SELECT x FROM t").texts())
                    .containsExactly("1");
            assertThat(database.query("SELECT x FROM t").texts()).isEmpty();
            connection.rollback();
        }
    }
}
