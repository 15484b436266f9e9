package io.carillon.it.store;

import io.carillon.postgres.PostgresStorage;
import io.carillon.schedule.TickPlanner;
import io.carillon.store.Storage;
import io.carillon.testkit.TestClock;
import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** The PostgreSQL storage under test, with one database for each test class. */
final class PostgresStoreFixture implements StoreFixture, BeforeAllCallback, AfterAllCallback {
    private static final int DAYS_AHEAD = 3;

    private static final String DUMP = """
            SELECT coalesce(string_agg(line, E'\\n' ORDER BY line), '') FROM (
              SELECT 'run ' || xmin || ' ' || t::text AS line FROM carillon.run t
              UNION ALL SELECT 'history ' || t::text FROM carillon.run_history t
              UNION ALL SELECT 'attempt ' || t::text FROM carillon.attempt t
              UNION ALL SELECT 'dead ' || xmin || ' ' || t::text FROM carillon.dead_run t
              UNION ALL SELECT 'schedule ' || xmin || ' ' || t::text FROM carillon.schedule t
              UNION ALL SELECT 'gap ' || t::text FROM carillon.ledger_gap t
              UNION ALL SELECT 'lane ' || xmin || ' ' || t::text FROM carillon.lane t
              UNION ALL SELECT 'cancel ' || xmin || ' ' || t::text FROM carillon.cancel_request t) all_lines
            """;

    private TestDatabase database;
    private TestClock clock;
    private Storage storage;
    private Storage secondStorage;

    @Override
    public void beforeAll(ExtensionContext context) {
        database = TestDatabase.migrated();
        clock = database.clock();
        clock.stopAt(NOON);
        storage = on(database.dataSource());
        secondStorage = on(database.pool(4));
        storage.maintenance().ensurePartitions(DAYS_AHEAD);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        storage.close();
        secondStorage.close();
        database.close();
    }

    private static Storage on(javax.sql.DataSource source) {
        return new PostgresStorage(source, TickPlanner.defaults());
    }

    TestDatabase database() {
        return database;
    }

    TableReader rows() {
        return new TableReader(database.dataSource());
    }

    @Override
    public Storage storage() {
        return storage;
    }

    @Override
    public Storage secondStorage() {
        return secondStorage;
    }

    @Override
    public TestClock clock() {
        return clock;
    }

    @Override
    public Connection open() {
        try {
            return database.dataSource().getConnection();
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public String dump() {
        return rows().text(DUMP);
    }

    @Override
    public void clear() {
        database.clear();
        database.execute("DELETE FROM carillon.node; DELETE FROM carillon.planning_token");
        clock.stopAt(NOON);
    }
}
