package io.carillon.it.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.FaultProxy;
import io.carillon.testkit.TestDatabase;
import java.io.StringReader;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;

/** The row is there, and the client was told that its connection broke. */
@CarillonTest
class LostAcknowledgementTest {
    private final TestDatabase database;
    private final FaultProxy proxy;

    LostAcknowledgementTest(TestDatabase database) {
        this.database = database;
        this.proxy = FaultProxy.before(database);
        database.execute("DROP TABLE IF EXISTS t; CREATE TABLE t (x integer PRIMARY KEY)");
    }

    @AfterEach
    void close() {
        proxy.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"simple", "extended"})
    void a_statement_of_its_own_is_committed_and_not_answered(String protocol) throws Exception {
        proxy.cutAfterCommit(sql -> sql.contains("INSERT INTO t"));
        try (Connection connection = open("preferQueryMode=" + protocol);
                Statement statement = connection.createStatement()) {
            statement.execute("SELECT 1");

            breaks(() -> statement.executeQuery("INSERT INTO t VALUES (1) RETURNING x"));
        }

        assertThat(rows()).containsExactly("1");
        assertThat(proxy.strikes()).isEqualTo(1);
    }

    @Test
    void a_statement_prepared_long_ago_is_recognised_by_its_name() throws Exception {
        try (Connection connection = open("prepareThreshold=1");
                PreparedStatement statement = connection.prepareStatement("INSERT INTO t VALUES (?)")) {
            for (int i = 1; i <= 3; i++) {
                statement.setInt(1, i);
                statement.execute();
            }
            proxy.cutAfterCommit(sql -> sql.startsWith("INSERT INTO t"));
            statement.setInt(1, 4);

            breaks(statement::execute);
        }

        assertThat(rows()).containsExactly("1", "2", "3", "4");
        assertThat(proxy.strikes()).isEqualTo(1);
    }

    @Test
    void in_a_transaction_it_is_the_commit_that_is_not_answered() throws Exception {
        proxy.cutAfterCommit(sql -> sql.startsWith("INSERT INTO t"));
        try (Connection connection = open();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            assertThat(statement.executeUpdate("INSERT INTO t VALUES (1)")).isEqualTo(1);
            assertThat(Rows.of(connection, "SELECT x FROM t")).containsExactly("1");

            breaks(connection::commit);
        }

        assertThat(rows()).containsExactly("1");
        assertThat(proxy.strikes()).isEqualTo(1);
    }

    @Test
    void what_is_rolled_back_is_answered() throws Exception {
        proxy.cutAfterCommit(sql -> sql.startsWith("INSERT INTO t"));
        try (Connection connection = open();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("INSERT INTO t VALUES (1)");
            connection.rollback();

            statement.execute("SELECT 1");
            connection.commit();
        }

        assertThat(rows()).isEmpty();
        assertThat(proxy.strikes()).isZero();
    }

    @Test
    void what_is_rolled_back_to_a_savepoint_and_then_committed_is_not_answered() throws Exception {
        proxy.cutAfterCommit(sql -> sql.startsWith("INSERT INTO t"));
        try (Connection connection = open();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("INSERT INTO t VALUES (1)");
            var savepoint = connection.setSavepoint();
            statement.execute("INSERT INTO t VALUES (2)");
            connection.rollback(savepoint);

            breaks(connection::commit);
        }

        assertThat(rows()).containsExactly("1");
    }

    @Test
    void what_fails_is_answered_with_its_own_error() throws Exception {
        database.execute("INSERT INTO t VALUES (1)");
        proxy.cutAfterCommit(sql -> sql.startsWith("INSERT INTO t"));
        try (Connection connection = open();
                Statement statement = connection.createStatement()) {
            assertThatThrownBy(() -> statement.execute("INSERT INTO t VALUES (1)"))
                    .hasMessageContaining("duplicate key");

            connection.setAutoCommit(false);
            assertThatThrownBy(() -> statement.execute("INSERT INTO t VALUES (1)"))
                    .hasMessageContaining("duplicate key");
            // The server answers this COMMIT with ROLLBACK.
            connection.commit();
            assertThat(Rows.of(connection, "SELECT 1")).containsExactly("1");
        }

        assertThat(proxy.strikes()).isZero();
    }

    @Test
    void other_statements_are_answered() throws Exception {
        proxy.cutAfterCommit(sql -> sql.contains("UPDATE"));
        try (Connection connection = open();
                Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO t VALUES (1)");
            connection.setAutoCommit(false);
            statement.execute("INSERT INTO t VALUES (2)");
            connection.commit();
        }

        assertThat(rows()).containsExactly("1", "2");
        assertThat(proxy.strikes()).isZero();
    }

    @Test
    void strikes_as_often_as_it_was_told_and_no_more_once_all_is_well() throws Exception {
        proxy.cutAfterCommit(sql -> sql.startsWith("INSERT INTO t"), 2);
        breaks(() -> insert(1));
        breaks(() -> insert(2));
        insert(3);

        proxy.cutAfterCommit(sql -> sql.startsWith("INSERT INTO t"));
        breaks(() -> insert(4));
        proxy.pass();
        insert(5);

        assertThat(rows()).containsExactly("1", "2", "3", "4", "5");
        assertThat(proxy.strikes()).isEqualTo(3);
    }

    @Test
    void a_batch_and_a_copy_are_committed_and_not_answered() throws Exception {
        proxy.cutAfterCommit(sql -> sql.contains(" t ") || sql.startsWith("COPY t"));
        try (Connection connection = open();
                PreparedStatement statement = connection.prepareStatement("INSERT INTO t VALUES (?)")) {
            for (int i = 1; i <= 3; i++) {
                statement.setInt(1, i);
                statement.addBatch();
            }
            breaks(statement::executeBatch);
        }
        // Not closed: the driver's copy leaves it to the server, which is gone, to end the connection.
        Connection copying = open();
        breaks(() -> copying.unwrap(PGConnection.class)
                .getCopyAPI()
                .copyIn("COPY t FROM STDIN", new StringReader("8\n9\n")));
        copying.abort(Runnable::run);

        assertThat(rows()).containsExactly("1", "2", "3", "8", "9");
        assertThat(proxy.strikes()).isEqualTo(2);
    }

    private interface Action {
        void run() throws Exception;
    }

    private static void breaks(Action action) {
        assertThatExceptionOfType(SQLException.class)
                .isThrownBy(action::run)
                .satisfies(e -> assertThat(e.getSQLState()).startsWith("08"));
    }

    private void insert(int x) throws SQLException {
        try (Connection connection = open();
                Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO t VALUES (%d)".formatted(x));
        }
    }

    private Connection open(String... options) throws SQLException {
        String separator = proxy.jdbcUrl().contains("?") ? "&" : "?";
        return DriverManager.getConnection(
                proxy.jdbcUrl() + separator + String.join("&", options), database.user(), database.password());
    }

    private List<String> rows() throws SQLException {
        return Rows.of(database.dataSource(), "SELECT x FROM t ORDER BY x");
    }
}
