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

/** The server commits, and the client sees a broken connection instead of the acknowledgement. */
@CarillonTest
class LostAcknowledgementTest {
    private final TestDatabase database;
    private final FaultProxy proxy;

    LostAcknowledgementTest(TestDatabase database) {
        this.database = database;
        this.proxy = FaultProxy.inFrontOf(database);
        database.execute("DROP TABLE IF EXISTS t; CREATE TABLE t (x integer PRIMARY KEY)");
    }

    @AfterEach
    void close() {
        proxy.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"simple", "extended"})
    void an_autocommit_statement_is_committed_and_its_answer_is_lost(String protocol) throws Exception {
        proxy.resetAfterCommit(sql -> sql.contains("INSERT INTO t"));
        try (Connection connection = open("preferQueryMode=" + protocol);
                Statement statement = connection.createStatement()) {
            statement.execute("SELECT 1");

            assertConnectionBreaks(() -> statement.executeQuery("INSERT INTO t VALUES (1) RETURNING x"));
        }

        assertThat(rows()).containsExactly("1");
        assertThat(proxy.lostAcknowledgements()).isEqualTo(1);
    }

    @Test
    void a_statement_prepared_earlier_is_recognised_by_its_name() throws Exception {
        try (Connection connection = open("prepareThreshold=1");
                PreparedStatement statement = connection.prepareStatement("INSERT INTO t VALUES (?)")) {
            for (int i = 1; i <= 3; i++) {
                statement.setInt(1, i);
                statement.execute();
            }
            proxy.resetAfterCommit(sql -> sql.startsWith("INSERT INTO t"));
            statement.setInt(1, 4);

            assertConnectionBreaks(statement::execute);
        }

        assertThat(rows()).containsExactly("1", "2", "3", "4");
        assertThat(proxy.lostAcknowledgements()).isEqualTo(1);
    }

    @Test
    void in_a_transaction_the_answer_to_the_commit_is_lost() throws Exception {
        proxy.resetAfterCommit(sql -> sql.startsWith("INSERT INTO t"));
        try (Connection connection = open();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            assertThat(statement.executeUpdate("INSERT INTO t VALUES (1)")).isEqualTo(1);
            assertThat(TestDatabase.query(connection, "SELECT x FROM t").texts())
                    .containsExactly("1");

            assertConnectionBreaks(connection::commit);
        }

        assertThat(rows()).containsExactly("1");
        assertThat(proxy.lostAcknowledgements()).isEqualTo(1);
    }

    @Test
    void a_rolled_back_transaction_is_answered() throws Exception {
        proxy.resetAfterCommit(sql -> sql.startsWith("INSERT INTO t"));
        try (Connection connection = open();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("INSERT INTO t VALUES (1)");
            connection.rollback();

            statement.execute("SELECT 1");
            connection.commit();
        }

        assertThat(rows()).isEmpty();
        assertThat(proxy.lostAcknowledgements()).isZero();
    }

    @Test
    void the_answer_to_a_commit_after_a_rollback_to_a_savepoint_is_lost() throws Exception {
        proxy.resetAfterCommit(sql -> sql.startsWith("INSERT INTO t"));
        try (Connection connection = open();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("INSERT INTO t VALUES (1)");
            var savepoint = connection.setSavepoint();
            statement.execute("INSERT INTO t VALUES (2)");
            connection.rollback(savepoint);

            assertConnectionBreaks(connection::commit);
        }

        assertThat(rows()).containsExactly("1");
    }

    @Test
    void a_failed_statement_is_answered_with_its_own_error() throws Exception {
        database.execute("INSERT INTO t VALUES (1)");
        proxy.resetAfterCommit(sql -> sql.startsWith("INSERT INTO t"));
        try (Connection connection = open();
                Statement statement = connection.createStatement()) {
            assertThatThrownBy(() -> statement.execute("INSERT INTO t VALUES (1)"))
                    .hasMessageContaining("duplicate key");

            connection.setAutoCommit(false);
            assertThatThrownBy(() -> statement.execute("INSERT INTO t VALUES (1)"))
                    .hasMessageContaining("duplicate key");
            // The server answers this COMMIT with ROLLBACK.
            connection.commit();
            assertThat(TestDatabase.query(connection, "SELECT 1").texts()).containsExactly("1");
        }

        assertThat(proxy.lostAcknowledgements()).isZero();
    }

    @Test
    void other_statements_are_answered() throws Exception {
        proxy.resetAfterCommit(sql -> sql.contains("UPDATE"));
        try (Connection connection = open();
                Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO t VALUES (1)");
            connection.setAutoCommit(false);
            statement.execute("INSERT INTO t VALUES (2)");
            connection.commit();
        }

        assertThat(rows()).containsExactly("1", "2");
        assertThat(proxy.lostAcknowledgements()).isZero();
    }

    @Test
    void fails_as_often_as_configured_and_not_after_restore() throws Exception {
        proxy.resetAfterCommit(sql -> sql.startsWith("INSERT INTO t"), 2);
        assertConnectionBreaks(() -> insert(1));
        assertConnectionBreaks(() -> insert(2));
        insert(3);

        proxy.resetAfterCommit(sql -> sql.startsWith("INSERT INTO t"));
        assertConnectionBreaks(() -> insert(4));
        proxy.restore();
        insert(5);

        assertThat(rows()).containsExactly("1", "2", "3", "4", "5");
        assertThat(proxy.lostAcknowledgements()).isEqualTo(3);
    }

    @Test
    void a_batch_and_a_copy_are_committed_and_their_answers_are_lost() throws Exception {
        proxy.resetAfterCommit(sql -> sql.contains(" t ") || sql.startsWith("COPY t"));
        try (Connection connection = open();
                PreparedStatement statement = connection.prepareStatement("INSERT INTO t VALUES (?)")) {
            for (int i = 1; i <= 3; i++) {
                statement.setInt(1, i);
                statement.addBatch();
            }
            assertConnectionBreaks(statement::executeBatch);
        }
        // Aborted, not closed: after a failed copy the driver waits for the server to end the connection.
        Connection copying = open();
        assertConnectionBreaks(() -> copying.unwrap(PGConnection.class)
                .getCopyAPI()
                .copyIn("COPY t FROM STDIN", new StringReader("8\n9\n")));
        copying.abort(Runnable::run);

        assertThat(rows()).containsExactly("1", "2", "3", "8", "9");
        assertThat(proxy.lostAcknowledgements()).isEqualTo(2);
    }

    private interface Action {
        void run() throws Exception;
    }

    private static void assertConnectionBreaks(Action action) {
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
        return database.query("SELECT x FROM t ORDER BY x").texts();
    }
}
