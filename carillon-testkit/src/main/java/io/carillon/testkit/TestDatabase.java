package io.carillon.testkit;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.postgresql.ds.PGConnectionPoolDataSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.ds.common.BaseDataSource;

/**
 * A PostgreSQL database of its own, made in some thirty milliseconds and dropped by {@link #close()}. The server behind it is shared by the whole JVM:
 * an embedded one, or the one that {@code CARILLON_TEST_DATABASE_URL} names.
 */
public final class TestDatabase implements AutoCloseable {
    private static final int POOL_SIZE = 16;

    // Nodes and tokens stay: a running engine would take their loss for its death.
    private static final String CLEAR = """
            DELETE FROM carillon.run; DELETE FROM carillon.run_history; DELETE FROM carillon.attempt; DELETE FROM carillon.dead_run;
            DELETE FROM carillon.schedule; DELETE FROM carillon.ledger_gap; DELETE FROM carillon.gate; DELETE FROM carillon.lane; DELETE FROM carillon.node_load;
            DELETE FROM carillon.cancel_request; DELETE FROM carillon.progress; DELETE FROM carillon.key_hold; DELETE FROM carillon.awaited; DELETE FROM carillon.claim_note;
            """;

    private final TestServer server;
    private final String name;
    private final List<SmallPool> pools = new CopyOnWriteArrayList<>();
    private final SmallPool shared;

    private TestDatabase(TestServer server, String name) {
        this.server = server;
        this.name = name;
        this.shared = pooled(POOL_SIZE);
    }

    /** A fresh database with Carillon's tables in it. */
    public static TestDatabase migrated() {
        return new TestDatabase(TestServer.get(), TestServer.get().createMigrated());
    }

    /** A fresh database with nothing in it. */
    public static TestDatabase empty() {
        return new TestDatabase(TestServer.get(), TestServer.get().createEmpty());
    }

    /** The database's name on the server. */
    public String name() {
        return name;
    }

    /** The address without user and password. */
    public String jdbcUrl() {
        return pointed(new PGSimpleDataSource()).getURL();
    }

    public String user() {
        return server.address().user();
    }

    public String password() {
        return server.address().password();
    }

    /** Pooled connections, at most sixteen at a time. */
    public DataSource dataSource() {
        return shared;
    }

    /** Another pool of at most so many connections, such as one for each node; closed with the database. */
    public DataSource pool(int size) {
        return pooled(size);
    }

    /** The clock of this database, which tests may move. */
    public TestClock clock() {
        return TestClock.on(shared);
    }

    /** Runs statements, separated by semicolons, in one transaction. */
    public void execute(String sql) {
        new Sql(shared).run(sql);
    }

    /** Removes all schedules, runs and their history, so that the next test of the class starts with none. */
    public void clear() {
        execute(CLEAR);
    }

    /** Ends every session in this database, as a restart or a failover would; returns how many there were. */
    public int terminateSessions() {
        return server.terminateSessions(name);
    }

    /** Drops the database, whoever is still connected. */
    @Override
    public void close() {
        pools.forEach(SmallPool::close);
        server.drop(name);
    }

    <T extends BaseDataSource> T pointed(T dataSource) {
        return server.address().pointed(dataSource, name);
    }

    private SmallPool pooled(int size) {
        SmallPool pool = new SmallPool(pointed(new PGConnectionPoolDataSource()), size);
        pools.add(pool);
        return pool;
    }
}
