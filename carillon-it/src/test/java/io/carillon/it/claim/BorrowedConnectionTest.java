package io.carillon.it.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.CarillonException;
import io.carillon.internal.postgres.PostgresStorage;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.store.Storage;
import io.carillon.it.fixture.RunSpec;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
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

/** The store returns connections to the user's pool with their original settings, even if the pool restores none. */
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

    /** A pool with one connection that restores no settings: closing the connection only returns it. */
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
    void a_connection_is_unchanged_after_a_single_statement() throws SQLException {
        storage.newRuns().enqueue(List.of(RunSpec.mail().run()));
        assertUnchanged();
    }

    @Test
    void a_connection_is_unchanged_after_a_transaction() throws SQLException {
        storage.newRuns().enqueue(RunSpec.mail().copies(2_001));
        assertUnchanged();
    }

    @Test
    void a_connection_is_unchanged_after_a_failure() throws SQLException {
        assertThatThrownBy(() -> storage.newRuns()
                        .enqueue(List.of(RunSpec.mail().key("nul \0").run())))
                .isInstanceOf(CarillonException.class);
        assertUnchanged();
        assertThatThrownBy(() -> storage.schedules().pause("default", "none", null))
                .isInstanceOf(CarillonException.class);
        assertUnchanged();
    }

    private void assertUnchanged() throws SQLException {
        assertThat(only.getAutoCommit()).isFalse();
        assertThat(only.getNetworkTimeout()).isEqualTo(77_000);
    }
}
