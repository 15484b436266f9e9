package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.postgres.PostgresStorage;
import io.carillon.schedule.TickPlanner;
import io.carillon.store.Storage;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import io.carillon.value.CarillonException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Connections go back to the user's pool as they came, whatever that pool restores by itself. */
@CarillonTest
class BorrowedConnectionTest {
    private final TestDatabase database;
    private Connection only;
    private Storage storage;

    BorrowedConnectionTest(TestDatabase database) {
        this.database = database;
    }

    @BeforeEach
    void open() throws SQLException {
        only = DriverManager.getConnection(database.jdbcUrl(), database.user(), database.password());
        only.setNetworkTimeout(Runnable::run, 77_000);
        only.setAutoCommit(false);
        storage = new PostgresStorage(poolOf(only), TickPlanner.defaults());
    }

    @AfterEach
    void close() throws SQLException {
        only.close();
    }

    /** A pool with one connection that restores nothing: closing it only gives it back. */
    private static DataSource poolOf(Connection only) {
        Connection lent = (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("close")) return null;
                    try {
                        return method.invoke(only, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
        return (DataSource) Proxy.newProxyInstance(
                DataSource.class.getClassLoader(),
                new Class<?>[] {DataSource.class},
                (proxy, method, arguments) -> lent);
    }

    @Test
    void after_a_single_statement() throws SQLException {
        storage.inbox().enqueue(List.of(Order.mail().run()));
        asItCame();
    }

    @Test
    void after_a_transaction() throws SQLException {
        storage.inbox().enqueue(Order.mail().times(2_001));
        asItCame();
    }

    @Test
    void after_a_failure() throws SQLException {
        assertThatThrownBy(() -> storage.inbox()
                        .enqueue(List.of(Order.mail().key("nul \0").run())))
                .isInstanceOf(CarillonException.class);
        asItCame();
        assertThatThrownBy(() -> storage.schedules().pause("default", "none", null))
                .isInstanceOf(CarillonException.class);
        asItCame();
    }

    private void asItCame() throws SQLException {
        assertThat(only.getAutoCommit()).isFalse();
        assertThat(only.getNetworkTimeout()).isEqualTo(77_000);
    }
}
