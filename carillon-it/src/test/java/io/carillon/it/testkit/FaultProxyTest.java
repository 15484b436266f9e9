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
        this.proxy = FaultProxy.inFrontOf(database);
        database.execute("DROP TABLE IF EXISTS t; CREATE TABLE t (x integer)");
    }

    @AfterEach
    void close() {
        proxy.close();
    }

    @Test
    void passes_all_traffic_by_default() throws Exception {
        assertThat(TestDatabase.query(proxy.dataSource(), "SELECT generate_series(1, 10000)")
                        .texts())
                .hasSize(10_000);
        assertThat(proxy.connections()).isEqualTo(1);
        assertThat(proxy.lostAcknowledgements()).isZero();
    }

    @Test
    void supports_encryption_requests_and_cancel_requests() throws Exception {
        try (Connection connection = open("sslmode=prefer", "gssEncMode=prefer");
                var statement = connection.createStatement()) {
            statement.setQueryTimeout(1);

            assertThatThrownBy(() -> statement.execute("SELECT pg_sleep(60)")).hasMessageContaining("user request");
            assertThat(TestDatabase.query(connection, "SELECT 1").texts()).containsExactly("1");
        }
    }

    @Test
    void delays_both_ways() throws Exception {
        try (Connection connection = open()) {
            proxy.delay(Duration.ofMillis(150));
            long since = System.nanoTime();

            TestDatabase.query(connection, "SELECT 1").texts();

            assertThat(Duration.ofNanos(System.nanoTime() - since)).isGreaterThanOrEqualTo(Duration.ofMillis(300));
        }
    }

    @Test
    void resets_open_connections_and_accepts_new_ones() throws Exception {
        try (Connection connection = open()) {
            assertThat(proxy.resetConnections()).isEqualTo(1);

            assertThatThrownBy(() -> TestDatabase.query(connection, "SELECT 1").texts())
                    .isInstanceOf(SQLException.class);
            assertThat(TestDatabase.query(proxy.dataSource(), "SELECT 1").texts())
                    .containsExactly("1");
        }
    }

    @Test
    void holds_traffic_while_stalled_and_delivers_it_afterwards() throws Exception {
        try (Connection connection = open()) {
            proxy.stall();
            CompletableFuture<Void> insert = CompletableFuture.runAsync(() -> insert(connection));
            Awaitility.await().during(Duration.ofMillis(300)).until(() -> !insert.isDone() && rows().isEmpty());

            proxy.restore();

            insert.get(10, TimeUnit.SECONDS);
            assertThat(rows()).containsExactly("1");
        }
    }

    @Test
    void half_open_connections_are_noticed_by_neither_side() throws Exception {
        try (Connection connection = open("socketTimeout=1")) {
            proxy.halfOpen();

            assertThatThrownBy(() -> insert(connection)).hasRootCauseInstanceOf(java.net.SocketTimeoutException.class);
            assertThatThrownBy(() -> open("connectTimeout=1", "loginTimeout=1", "socketTimeout=1"))
                    .isInstanceOf(SQLException.class);
            assertThat(rows()).isEmpty();
        }
        proxy.restore();
        assertThat(TestDatabase.query(proxy.dataSource(), "SELECT 1").texts()).containsExactly("1");
    }

    @Test
    void the_server_does_not_notice_that_a_client_behind_a_half_open_connection_ended() throws Exception {
        try (Connection connection = open()) {
            String pid = TestDatabase.query(connection, "SELECT pg_backend_pid()")
                    .texts()
                    .get(0);
            String alive = "SELECT count(*) FROM pg_stat_activity WHERE pid = " + pid;
            proxy.halfOpen();
            connection.abort(Runnable::run);

            Awaitility.await()
                    .during(Duration.ofMillis(300))
                    .until(() -> database.query(alive).number() == 1);
        }
    }

    @Test
    void restore_resets_connections_that_lost_bytes() throws Exception {
        try (Connection lossy = open();
                Connection quiet = open()) {
            proxy.halfOpen();
            CompletableFuture<Void> insert = CompletableFuture.runAsync(() -> insert(lossy));
            Awaitility.await().during(Duration.ofMillis(200)).until(() -> !insert.isDone());

            proxy.restore();

            assertThatThrownBy(() -> insert.get(10, TimeUnit.SECONDS))
                    .hasRootCauseInstanceOf(java.io.IOException.class);
            assertThat(TestDatabase.query(quiet, "SELECT 1").texts()).containsExactly("1");
            assertThat(rows()).isEmpty();
        }
    }

    @Test
    void refuses_new_connections_and_keeps_open_ones() throws Exception {
        try (Connection connection = open()) {
            proxy.refuseConnections();

            assertThatThrownBy(() -> open()).isInstanceOf(SQLException.class);
            assertThat(TestDatabase.query(connection, "SELECT 1").texts()).containsExactly("1");

            proxy.restore();
            open().close();
        }
    }

    @Test
    void does_not_count_ended_connections() throws Exception {
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

    private List<String> rows() {
        return database.query("SELECT x FROM t").texts();
    }
}
