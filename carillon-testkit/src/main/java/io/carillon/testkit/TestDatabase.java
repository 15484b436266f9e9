package io.carillon.testkit;

import io.carillon.testkit.internal.server.SmallPool;
import io.carillon.testkit.internal.server.Sql;
import io.carillon.testkit.internal.server.TestServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.postgresql.ds.PGConnectionPoolDataSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.ds.common.BaseDataSource;

/**
 * A PostgreSQL database for one test class, created in about 30 ms and dropped by {@link #close()}. All databases of a
 * JVM share one server: an embedded one, or the server in {@code CARILLON_TEST_DATABASE_URL}.
 */
public final class TestDatabase implements AutoCloseable {
    private static final int POOL_SIZE = 16;

    // Rows of nodes and planning tokens stay: without them a running engine would treat its node as dead.
    private static final String CLEAR = """
            DELETE FROM carillon.run; DELETE FROM carillon.run_history; DELETE FROM carillon.attempt;
              DELETE FROM carillon.dead_run;
            DELETE FROM carillon.schedule; DELETE FROM carillon.ledger_gap; DELETE FROM carillon.gate;
              DELETE FROM carillon.lane; DELETE FROM carillon.lane_attempt_stats;
            DELETE FROM carillon.cancel_request; DELETE FROM carillon.progress; DELETE FROM carillon.unique_key_window;
              DELETE FROM carillon.open_attempt; DELETE FROM carillon.run_wait; DELETE FROM carillon.workflow_step;
              DELETE FROM carillon.workflow_step_history; DELETE FROM carillon.workflow_signal;
              DELETE FROM carillon.claim_record;
            DELETE FROM carillon.stats_minute; DELETE FROM carillon.stats_hour;
            DELETE FROM carillon.event_store; DELETE FROM carillon.event_key_version;
              DELETE FROM carillon.event_subscription; DELETE FROM carillon.event_cursor;
              DELETE FROM carillon.event_publish_id;
              UPDATE carillon.event_dispatch SET snapshot = 0, seq = 9223372036854775807, version = 1;
              DELETE FROM carillon.event_relay; DELETE FROM carillon.event_source;
              DELETE FROM carillon.event_source_unpublished;
              DELETE FROM carillon.event_snapshot; DELETE FROM carillon.event_epoch;
            """;

    private final TestServer server;
    private final String name;
    private final List<SmallPool> pools = new CopyOnWriteArrayList<>();
    private final SmallPool shared;

    private TestDatabase(TestServer server, String name) {
        this.server = server;
        this.name = name;
        this.shared = newPool(POOL_SIZE);
    }

    /** Creates a database with the Carillon tables. */
    public static TestDatabase migrated() {
        return new TestDatabase(TestServer.get(), TestServer.get().createMigrated());
    }

    /** Creates an empty database. */
    public static TestDatabase empty() {
        return new TestDatabase(TestServer.get(), TestServer.get().createEmpty());
    }

    /** Returns the name of the database on the server. */
    public String name() {
        return name;
    }

    /** Returns the JDBC URL without user and password. */
    public String jdbcUrl() {
        return configure(new PGSimpleDataSource()).getURL();
    }

    /** Returns the name of the database user. */
    public String user() {
        return server.address().user();
    }

    /** Returns the password of the database user. */
    public String password() {
        return server.address().password();
    }

    /** Returns a pool of at most 16 connections. */
    public DataSource dataSource() {
        return shared;
    }

    /**
     * Creates another pool of at most this many connections, for example for a node. It is closed with the database.
     */
    public DataSource pool(int size) {
        return newPool(size);
    }

    /** Returns the clock of this database, which tests may control. */
    public TestClock clock() {
        return TestClock.on(shared);
    }

    /** Executes statements, separated by semicolons, in one transaction. */
    public void execute(String sql) {
        new Sql(shared).run(sql);
    }

    /**
     * Executes one statement that returns rows, in its own transaction. The parameters replace the question marks; pass
     * an array as {@code (Object) array}.
     */
    public QueryResult query(String sql, Object... parameters) {
        return query(shared, sql, parameters);
    }

    /**
     * Executes a statement like {@link #query(String, Object...)}, on another data source, for example that of a
     * {@link FaultProxy}.
     */
    public static QueryResult query(DataSource dataSource, String sql, Object... parameters) {
        return new Sql(dataSource).call(session -> QueryResult.of(session.connection(), sql, parameters));
    }

    /**
     * Executes a statement like {@link #query(String, Object...)}, on an open connection and in its transaction. The
     * connection stays open.
     */
    public static QueryResult query(Connection connection, String sql, Object... parameters) throws SQLException {
        return QueryResult.of(connection, sql, parameters);
    }

    /** Deletes all schedules, runs and their history, so that the next test starts without any. */
    public void clear() {
        execute(CLEAR);
    }

    /** Terminates all sessions of this database, like a restart or failover. Returns how many were terminated. */
    public int terminateSessions() {
        return server.terminateSessions(name);
    }

    /** Drops the database and terminates the sessions that are still connected. */
    @Override
    public void close() {
        pools.forEach(SmallPool::close);
        server.drop(name);
    }

    <T extends BaseDataSource> T configure(T dataSource) {
        return server.address().configure(dataSource, name);
    }

    private SmallPool newPool(int size) {
        SmallPool pool = new SmallPool(configure(new PGConnectionPoolDataSource()), size);
        pools.add(pool);
        return pool;
    }
}
