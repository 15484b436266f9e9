package io.carillon.it.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.FaultProxy;
import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

@CarillonTest
class FaultProxyTest {
    private final TestDatabase database;
    private final FaultProxy proxy;

    FaultProxyTest(TestDatabase database) {
        this.database = database;
        this.proxy = FaultProxy.before(database);
        database.execute("DROP TABLE IF EXISTS t; CREATE TABLE t (x integer)");
    }

    @AfterEach
    void close() {
        proxy.close();
    }

    @Test
    void passes_everything_until_told_otherwise() throws Exception {
        assertThat(Rows.of(proxy.dataSource(), "SELECT generate_series(1, 10000)"))
                .hasSize(10_000);
        assertThat(proxy.connections()).isEqualTo(1);
        assertThat(proxy.strikes()).isZero();
    }

    @Test
    void serves_clients_that_ask_for_encryption_first_and_clients_that_cancel() throws Exception {
        try (Connection connection = open("sslmode=prefer", "gssEncMode=prefer");
                var statement = connection.createStatement()) {
            statement.setQueryTimeout(1);

            assertThatThrownBy(() -> statement.execute("SELECT pg_sleep(60)")).hasMessageContaining("user request");
            assertThat(Rows.of(connection, "SELECT 1")).containsExactly("1");
        }
    }

    @Test
    void delays_both_ways() throws Exception {
        try (Connection connection = open()) {
            proxy.delay(Duration.ofMillis(150));
            long since = System.nanoTime();

            Rows.of(connection, "SELECT 1");

            assertThat(Duration.ofNanos(System.nanoTime() - since)).isGreaterThanOrEqualTo(Duration.ofMillis(300));
        }
    }

    @Test
    void cuts_what_is_open_and_lets_new_connections_pass() throws Exception {
        try (Connection connection = open()) {
            assertThat(proxy.cut()).isEqualTo(1);

            assertThatThrownBy(() -> Rows.of(connection, "SELECT 1")).isInstanceOf(SQLException.class);
            assertThat(Rows.of(proxy.dataSource(), "SELECT 1")).containsExactly("1");
        }
    }

    @Test
    void holds_everything_while_stalled_and_delivers_it_afterwards() throws Exception {
        try (Connection connection = open()) {
            proxy.stall();
            CompletableFuture<Void> insert = CompletableFuture.runAsync(() -> insert(connection));
            Awaitility.await().during(Duration.ofMillis(300)).until(() -> !insert.isDone() && rows().isEmpty());

            proxy.pass();

            insert.get(10, TimeUnit.SECONDS);
            assertThat(rows()).containsExactly("1");
        }
    }

    @Test
    void keeps_half_open_connections_in_the_dark_on_both_sides() throws Exception {
        try (Connection connection = open("socketTimeout=1")) {
            proxy.halfOpen();

            assertThatThrownBy(() -> insert(connection)).hasRootCauseInstanceOf(java.net.SocketTimeoutException.class);
            assertThatThrownBy(() -> open("connectTimeout=1", "loginTimeout=1", "socketTimeout=1"))
                    .isInstanceOf(SQLException.class);
            assertThat(rows()).isEmpty();
        }
        proxy.pass();
        assertThat(Rows.of(proxy.dataSource(), "SELECT 1")).containsExactly("1");
    }

    @Test
    void the_server_does_not_learn_of_a_client_behind_a_half_open_connection() throws Exception {
        try (Connection connection = open()) {
            String pid = Rows.of(connection, "SELECT pg_backend_pid()").get(0);
            String alive = "SELECT count(*) FROM pg_stat_activity WHERE pid = " + pid;
            proxy.halfOpen();
            connection.abort(Runnable::run);

            Awaitility.await()
                    .during(Duration.ofMillis(300))
                    .until(() -> sessions(alive).equals(List.of("1")));
        }
    }

    @Test
    void cuts_connections_that_lost_bytes_when_the_network_is_whole_again() throws Exception {
        try (Connection lossy = open();
                Connection quiet = open()) {
            proxy.halfOpen();
            CompletableFuture<Void> insert = CompletableFuture.runAsync(() -> insert(lossy));
            Awaitility.await().during(Duration.ofMillis(200)).until(() -> !insert.isDone());

            proxy.pass();

            assertThatThrownBy(() -> insert.get(10, TimeUnit.SECONDS))
                    .hasRootCauseInstanceOf(java.io.IOException.class);
            assertThat(Rows.of(quiet, "SELECT 1")).containsExactly("1");
            assertThat(rows()).isEmpty();
        }
    }

    @Test
    void refuses_new_connections_and_leaves_open_ones_alone() throws Exception {
        try (Connection connection = open()) {
            proxy.refuse();

            assertThatThrownBy(() -> open()).isInstanceOf(SQLException.class);
            assertThat(Rows.of(connection, "SELECT 1")).containsExactly("1");

            proxy.pass();
            open().close();
        }
    }

    @Test
    void forgets_connections_that_ended() throws Exception {
        open().close();

        Awaitility.await().until(() -> proxy.connections() == 0);
    }

    private Connection open(String... options) throws SQLException {
        String separator = proxy.jdbcUrl().contains("?") ? "&" : "?";
        return DriverManager.getConnection(
                proxy.jdbcUrl() + separator + String.join("&", options), database.user(), database.password());
    }

    private static void insert(Connection connection) {
        try (var statement = connection.createStatement()) {
            statement.execute("INSERT INTO t VALUES (1)");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private List<String> rows() throws SQLException {
        return sessions("SELECT x FROM t");
    }

    private List<String> sessions(String sql) throws SQLException {
        return Rows.of(database.dataSource(), sql);
    }
}
