package io.carillon.it.migration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.SchemaMode;
import io.carillon.internal.postgres.migration.Migrator;
import io.carillon.testkit.TestDatabase;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.ds.PGSimpleDataSource;

/** The migrator with locks of other sessions, users with few privileges, and pools with special settings. */
class MigratorEnvironmentTest {
    private static final String WAITS_FOR_A_LOCK =
            "SELECT count(*) > 0 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

    private final TestDatabase database = TestDatabase.empty();
    private final String role = database.name() + "_role";

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void gives_up_after_its_timeout_and_reports_the_session_that_migrates() throws Exception {
        new Migrator(database.dataSource()).run(SchemaMode.AUTO);
        database.execute("DROP SCHEMA carillon CASCADE");
        try (Connection other = database.dataSource().getConnection();
                Statement statement = other.createStatement()) {
            // The lock is part of the contract between versions, so the test repeats its number.
            statement.execute("SELECT pg_advisory_lock(x'0ca211104d160001'::bigint)");
            int pid = other.unwrap(org.postgresql.PGConnection.class).getBackendPID();

            assertThatExceptionOfType(CarillonException.class)
                    .isThrownBy(() -> new Migrator(database.dataSource())
                            .waitTimeout(Duration.ofMillis(300))
                            .run(SchemaMode.AUTO))
                    .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.STORAGE))
                    .withMessageContaining("another process is migrating (database session with pid " + pid + ")")
                    .withMessageContaining("within PT0.3S")
                    .withMessageContaining("end the session that holds the lock")
                    .withMessageEndingWith("and start again.");
            statement.execute("SELECT pg_advisory_unlock_all()");
        }
    }

    @Test
    void retries_when_a_table_lock_was_not_granted() throws Exception {
        database.execute("CREATE SCHEMA carillon");
        try (Connection other = database.dataSource().getConnection();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("CREATE TABLE carillon.unique_key_window (x integer)");

            CompletableFuture<Void> migration =
                    CompletableFuture.runAsync(() -> new Migrator(database.pool(1)).run(SchemaMode.AUTO));
            // The migrator waits, gives up after two seconds so that it does not block sessions behind it,
            // and waits again.
            Awaitility.await().until(() -> waitsForALock());
            Awaitility.await().until(() -> !waitsForALock());
            Awaitility.await().until(() -> waitsForALock());
            other.rollback();

            migration.get(20, TimeUnit.SECONDS);
        }
        assertThat(Catalog.migrations(database)).hasSize(new Migrator(database.dataSource()).newestNumber());
    }

    private boolean waitsForALock() {
        return database.query(WAITS_FOR_A_LOCK).texts().equals(java.util.List.of("t"));
    }

    @Test
    void needs_no_privilege_on_the_database_when_the_user_owns_the_schema() {
        PGSimpleDataSource poor = userWithoutRights();
        try {
            assertThatExceptionOfType(CarillonException.class)
                    .isThrownBy(() -> new Migrator(poor).run(SchemaMode.AUTO))
                    .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.UNSUITABLE_DATA_SOURCE))
                    .withMessageContaining("permission denied for database " + database.name())
                    .withMessageContaining("CREATE SCHEMA carillon AUTHORIZATION " + role);

            database.execute("CREATE SCHEMA carillon AUTHORIZATION " + role);
            new Migrator(poor).run(SchemaMode.AUTO);
            new Migrator(poor).run(SchemaMode.VALIDATE);
        } finally {
            dropRole();
        }
    }

    @Test
    void reports_the_privileges_it_lacks_in_the_schema_of_another_user() {
        PGSimpleDataSource poor = userWithoutRights();
        try {
            database.execute("CREATE SCHEMA carillon");
            assertThatExceptionOfType(CarillonException.class)
                    .isThrownBy(() -> new Migrator(poor).run(SchemaMode.AUTO))
                    .withMessageContaining("permission denied for schema carillon");

            new Migrator(database.dataSource()).run(SchemaMode.AUTO);
            assertThatExceptionOfType(CarillonException.class)
                    .isThrownBy(() -> new Migrator(poor).run(SchemaMode.VALIDATE))
                    .withMessageContaining("The user needs USAGE on the schema and SELECT on carillon.migration");

            database.execute("GRANT USAGE ON SCHEMA carillon TO %s; GRANT SELECT ON carillon.migration TO %s"
                    .formatted(role, role));
            new Migrator(poor).run(SchemaMode.VALIDATE);
        } finally {
            dropRole();
        }
    }

    @Test
    void does_not_change_the_settings_of_a_pooled_connection() throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(database.jdbcUrl());
        config.setUsername(database.user());
        config.setPassword(database.password());
        config.setMaximumPoolSize(1);
        config.setAutoCommit(false);
        config.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
        config.setConnectionInitSql("SET statement_timeout = '7s'");
        try (HikariDataSource pool = new HikariDataSource(config)) {
            new Migrator(pool).run(SchemaMode.AUTO);

            try (Connection connection = pool.getConnection();
                    Statement statement = connection.createStatement()) {
                assertThat(connection.getAutoCommit()).isFalse();
                assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_SERIALIZABLE);
                try (var row = statement.executeQuery(
                        "SELECT current_setting('statement_timeout') || ' ' || current_setting('lock_timeout') || ' '"
                                + " || current_setting('search_path')")) {
                    row.next();
                    assertThat(row.getString(1)).isEqualTo("7s 0 \"$user\", public");
                }
                connection.rollback();
            }
        }
    }

    @Test
    void returns_a_connection_with_its_original_auto_commit_mode() throws Exception {
        try (Connection connection = database.dataSource().getConnection()) {
            connection.setAutoCommit(false);

            new Migrator(lending(connection)).run(SchemaMode.AUTO);
            assertThat(connection.getAutoCommit()).isFalse();

            new Migrator(lending(connection)).run(SchemaMode.VALIDATE);
            assertThat(connection.getAutoCommit()).isFalse();
        }
    }

    /** Returns a data source that lends one open connection and takes it back without resetting it. */
    private static DataSource lending(Connection connection) {
        Connection lent = proxy(
                Connection.class,
                (self, method, arguments) ->
                        method.getName().equals("close") ? null : method.invoke(connection, arguments));
        return proxy(DataSource.class, (self, method, arguments) -> lent);
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    @ParameterizedTest
    @EnumSource(names = {"AUTO", "VALIDATE"})
    void a_table_that_disappears_between_two_reads_counts_as_missing(SchemaMode mode) {
        new Migrator(database.dataSource()).run(SchemaMode.AUTO);
        Migrator migrator = new Migrator(dropsSchemaBeforeRead());

        if (mode == SchemaMode.AUTO) migrator.run(mode);
        else
            assertThatExceptionOfType(CarillonException.class)
                    .isThrownBy(() -> migrator.run(mode))
                    .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.SCHEMA_TOO_OLD));

        assertThat(Catalog.schemaExists(database)).isEqualTo(mode == SchemaMode.AUTO);
    }

    /** Drops the schema after the migrator found its table in the catalog and before it reads the table. */
    private DataSource dropsSchemaBeforeRead() {
        AtomicBoolean dropped = new AtomicBoolean();
        return proxy(DataSource.class, (self, method, arguments) -> {
            Connection connection = database.dataSource().getConnection();
            return proxy(Connection.class, (lent, called, values) -> {
                if (called.getName().equals("prepareStatement")
                        && String.valueOf(values[0]).contains("FROM carillon.migration")
                        && dropped.compareAndSet(false, true)) database.execute("DROP SCHEMA carillon CASCADE");
                return called.invoke(connection, values);
            });
        });
    }

    @Test
    void reports_an_unreachable_database() {
        PGSimpleDataSource missingDatabase = new PGSimpleDataSource();
        missingDatabase.setUrl(database.jdbcUrl());
        missingDatabase.setUser(database.user());
        missingDatabase.setPassword(database.password());
        missingDatabase.setDatabaseName(database.name() + "_missing");

        assertThatExceptionOfType(CarillonException.class)
                .isThrownBy(() -> new Migrator(missingDatabase).run(SchemaMode.VALIDATE))
                .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.DATABASE_UNREACHABLE));
    }

    private PGSimpleDataSource userWithoutRights() {
        database.execute("CREATE ROLE %s LOGIN PASSWORD 'poor'".formatted(role));
        PGSimpleDataSource poor = new PGSimpleDataSource();
        poor.setUrl(database.jdbcUrl());
        poor.setUser(role);
        poor.setPassword("poor");
        return poor;
    }

    private void dropRole() {
        database.execute("DROP OWNED BY %s; DROP ROLE %s".formatted(role, role));
    }
}
