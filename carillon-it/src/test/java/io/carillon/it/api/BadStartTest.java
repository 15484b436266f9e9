package io.carillon.it.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.SchemaMode;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.it.fixture.SizedPool;
import io.carillon.run.HandlerType;
import io.carillon.testkit.TestDatabase;
import io.carillon.workflow.WorkflowType;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Failed starts: each cause has its own error code, and no schema, row or thread remains. */
class BadStartTest {
    record Job(String text) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static TestDatabase database;

    @BeforeAll
    static void open() {
        database = TestDatabase.empty();
    }

    @AfterAll
    static void close() {
        database.close();
    }

    @Test
    void a_missing_schema_is_not_created_in_validate_mode() {
        try (TestDatabase empty = TestDatabase.empty()) {
            CarillonException refusal = refused(
                    ErrorCode.SCHEMA_TOO_OLD,
                    () -> Carillon.on(empty.dataSource())
                            .schema(SchemaMode.VALIDATE)
                            .start());

            assertThat(refusal).hasMessageContaining("SchemaMode.AUTO");
            assertThat(empty.query("SELECT count(*) FROM pg_namespace WHERE nspname = 'carillon'")
                            .number())
                    .isZero();
        }
    }

    @Test
    void a_schema_that_is_too_new_is_not_changed_in_any_mode() {
        try (TestDatabase newer = TestDatabase.migrated()) {
            newer.execute("INSERT INTO carillon.migration (number, name, checksum, min_code, applied_at)"
                    + " SELECT 999, 'from_the_future', checksum, 999, applied_at FROM carillon.migration LIMIT 1");
            ApiFixture fixture = new ApiFixture(newer);
            var before = fixture.tableDigests();

            refused(
                    ErrorCode.SCHEMA_TOO_NEW,
                    () -> Carillon.on(newer.dataSource())
                            .schema(SchemaMode.VALIDATE)
                            .start());
            refused(
                    ErrorCode.SCHEMA_TOO_NEW,
                    () -> Carillon.on(newer.dataSource()).start());

            assertThat(fixture.tableDigests()).isEqualTo(before);
            assertThat(fixture.query("SELECT count(*) FROM carillon.node").number())
                    .isZero();
        }
    }

    @Test
    void a_pool_that_is_too_small_is_rejected_with_the_required_connections() {
        try (HikariDataSource three = hikari(3);
                HikariDataSource four = hikari(4)) {
            CarillonException small =
                    refused(ErrorCode.POOL_TOO_SMALL, () -> Carillon.on(three).start());
            CarillonException transactional = refused(
                    ErrorCode.POOL_TOO_SMALL,
                    () -> Carillon.on(four)
                            .handleInTransaction(JOB, (job, run, connection) -> {})
                            .start());
            refused(
                    ErrorCode.POOL_TOO_SMALL,
                    () -> Carillon.on(four)
                            .workflow(WorkflowType.of("checkout", String.class), (input, flow) -> null)
                            .start());

            assertThat(small)
                    .hasMessageContaining("3 connections")
                    .hasMessageContaining("needs 4: 1 for the heartbeat, 1 for LISTEN, 2 for")
                    .hasMessageContaining("at least 4")
                    .hasMessageContaining("engineDataSource");
            assertThat(transactional)
                    .hasMessageContaining("4 connections")
                    .hasMessageContaining("needs 5")
                    .hasMessageContaining("1 for transactional handlers");
            assertThat(schemas()).isZero();
        }
    }

    @Test
    void a_separate_engine_pool_leaves_the_users_pool_to_the_handlers() throws Exception {
        try (TestDatabase migrated = TestDatabase.migrated();
                Carillon carillon = Carillon.on(new SizedPool(migrated.pool(1), 1))
                        .engineDataSource(new SizedPool(migrated.pool(4), 4))
                        .handleInTransaction(JOB, (job, run, connection) -> {})
                        .start()) {
            ApiFixture.awaitState(
                    carillon, carillon.enqueue(JOB, new Job("x")).run(), io.carillon.run.RunState.SUCCEEDED);
        }
    }

    @Test
    void a_data_source_that_is_closed() {
        HikariDataSource closed = hikari(5);
        closed.close();

        assertThat(refused(
                        ErrorCode.DATABASE_UNREACHABLE,
                        () -> Carillon.on(closed).start()))
                .hasMessageContaining("data source is open");
    }

    @Test
    void an_unreachable_database() throws IOException {
        PGSimpleDataSource unreachable = new PGSimpleDataSource();
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            unreachable.setServerNames(new String[] {"127.0.0.1"});
            unreachable.setPortNumbers(new int[] {free.getLocalPort()});
        }
        long start = System.nanoTime();

        refused(ErrorCode.DATABASE_UNREACHABLE, () -> Carillon.on(unreachable).start());

        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
    }

    @Test
    void a_wrong_password_or_database() {
        PGSimpleDataSource wrong = new PGSimpleDataSource();
        wrong.setURL(database.jdbcUrl());
        wrong.setDatabaseName("no_such_database");
        wrong.setUser(database.user());
        wrong.setPassword(database.password());

        assertThat(refused(
                        ErrorCode.DATABASE_UNREACHABLE, () -> Carillon.on(wrong).start()))
                .hasMessageContaining("no_such_database");
    }

    @Test
    void a_transaction_aware_data_source() {
        assertThat(refused(
                        ErrorCode.UNSUITABLE_DATA_SOURCE,
                        () -> Carillon.on(new TransactionAwareDataSourceProxy()).start()))
                .hasMessageContaining("engineDataSource");
        refused(
                ErrorCode.UNSUITABLE_DATA_SOURCE,
                () -> Carillon.on(database.dataSource())
                        .engineDataSource(new TransactionAwareDataSourceProxy())
                        .start());
        assertThat(schemas()).isZero();
    }

    @Test
    void a_database_that_is_not_postgresql_or_too_old() {
        assertThat(refused(
                        ErrorCode.UNSUITABLE_DATA_SOURCE,
                        () -> Carillon.on(posingAs("MySQL", 8)).start()))
                .hasMessageContaining("MySQL 8")
                .hasMessageContaining("PostgreSQL 14");
        assertThat(refused(
                        ErrorCode.UNSUITABLE_DATA_SOURCE,
                        () -> Carillon.on(posingAs("PostgreSQL", 13)).start()))
                .hasMessageContaining("PostgreSQL 13");
        assertThat(schemas()).isZero();
    }

    @Test
    void a_data_source_that_throws_an_unexpected_exception() {
        DataSource broken = (DataSource) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {DataSource.class}, (self, method, args) -> {
                    throw new IllegalStateException("pool not configured");
                });

        assertThat(refused(
                        ErrorCode.DATABASE_UNREACHABLE,
                        () -> Carillon.on(broken).start()))
                .hasMessageContaining("pool not configured");
    }

    @Test
    void a_failed_start_leaves_no_thread_behind() {
        Supplier<Long> threads = () -> Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().matches("carillon-(claim|heartbeat|plan|listen|complete|run.*)"))
                .count();
        try (TestDatabase migrated = TestDatabase.migrated()) {
            migrated.execute("ALTER TABLE carillon.node ADD CONSTRAINT closed CHECK (false) NOT VALID");

            refused(ErrorCode.STORAGE, () -> Carillon.on(migrated.dataSource()).start());
        }

        assertThat(threads.get()).isZero();
    }

    /** Not the class of Spring, but a class of that name: Carillon recognizes such proxies by their name. */
    private static final class TransactionAwareDataSourceProxy extends PGSimpleDataSource {
        private static final long serialVersionUID = 1L;
    }

    /** Returns the test database with another product name and version. */
    private static DataSource posingAs(String product, int version) {
        return proxy(
                DataSource.class,
                database.dataSource(),
                (method, result) -> !(result instanceof Connection c)
                        ? result
                        : proxy(
                                Connection.class,
                                c,
                                (m, r) -> !(r instanceof DatabaseMetaData data)
                                        ? r
                                        : proxy(DatabaseMetaData.class, data, (name, answer) -> switch (name) {
                                            case "getDatabaseProductName" -> product;
                                            case "getDatabaseMajorVersion" -> version;
                                            default -> answer;
                                        })));
    }

    private interface Answer {
        Object to(String method, Object result) throws SQLException;
    }

    private static <T> T proxy(Class<T> type, T delegate, Answer answer) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (self, method, args) -> answer.to(method.getName(), method.invoke(delegate, args))));
    }

    private static HikariDataSource hikari(int size) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(database.jdbcUrl());
        config.setUsername(database.user());
        config.setPassword(database.password());
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(0);
        return new HikariDataSource(config);
    }

    private static long schemas() {
        return database.query("SELECT count(*) FROM pg_namespace WHERE nspname = 'carillon'")
                .number();
    }

    private static CarillonException refused(ErrorCode code, ThrowingCallable start) {
        CarillonException refusal = catchThrowableOfType(CarillonException.class, start);
        assertThat(refusal).as("exception of the start").isNotNull();
        assertThat(refusal.code()).isEqualTo(code);
        return refusal;
    }
}
