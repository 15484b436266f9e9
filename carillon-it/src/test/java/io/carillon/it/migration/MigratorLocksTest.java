package io.carillon.it.migration;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.postgres.migration.Migrator;
import io.carillon.testkit.TestDatabase;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Nodes continue to work while a migration changes tables that are in use. */
@Timeout(60)
class MigratorLocksTest {
    private static final String ENDED = """
            INSERT INTO carillon.run_history (project, id, day, queue, priority, node_deaths, crashes, attempt,
              failures, due_at, ended_at, created_at, state,
                                              origin, target, target_name)
            VALUES ('default', gen_random_uuid(), (carillon.clock() AT TIME ZONE 'UTC')::date, 'q', 1, 0, 0, 1, 0,
              carillon.clock(), carillon.clock(),
                    carillon.clock(), 'succeeded', 'direct', 'handler', 'h')
            """;

    private final TestDatabase database = TestDatabase.migrated();
    private NewerCode newer;
    private String next;

    @BeforeEach
    void version(@TempDir Path directory) throws Exception {
        newer = new NewerCode(directory);
        next = "%04d".formatted(new Migrator(database.dataSource()).newestNumber() + 1);
        database.execute("""
                DO $$ BEGIN
                  EXECUTE format('CREATE TABLE IF NOT EXISTS carillon.run_history_%s PARTITION OF carillon.run_history'
                                   ' FOR VALUES FROM (%L) TO (%L)',
                                 to_char((carillon.clock() AT TIME ZONE 'UTC')::date, 'YYYYMMDD'),
                                 (carillon.clock() AT TIME ZONE 'UTC')::date,
                                 (carillon.clock() AT TIME ZONE 'UTC')::date + 1);
                END $$
                """);
    }

    @AfterEach
    void drop() {
        database.close();
    }

    private CompletableFuture<Void> migrating() {
        return CompletableFuture.runAsync(() -> newer.migrate(database.pool(2)));
    }

    private void untilItWaits(String statement) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> database.query("SELECT count(*)::text FROM pg_stat_activity"
                                + " WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '"
                                + statement + "%'")
                        .texts()
                        .equals(List.of("1")));
    }

    /** Executes the statement on a connection with this lock timeout. */
    private void within(Duration atMost, String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SET lock_timeout = " + atMost.toMillis());
            statement.execute(sql);
        }
    }

    @Test
    void the_index_of_a_partitioned_table_does_not_block_writers() throws Exception {
        newer.withFile(
                next + "_index.sql",
                NewerCode.text(
                        "-- min_code: 1",
                        "-- transaction: off",
                        "CREATE INDEX IF NOT EXISTS run_history_later ON carillon.run_history (queue, id);"));
        CompletableFuture<Void> migration;
        try (Connection writer = database.dataSource().getConnection();
                Statement open = writer.createStatement()) {
            writer.setAutoCommit(false);
            open.execute(ENDED);
            migration = migrating();
            untilItWaits("CREATE INDEX CONCURRENTLY");

            within(Duration.ofMillis(500), ENDED);

            writer.commit();
        }
        migration.get(30, TimeUnit.SECONDS);
        assertThat(Catalog.objects(database))
                .anyMatch(line -> line.startsWith("index CREATE INDEX run_history_later ON ONLY carillon.run_history ")
                        && line.endsWith("true"));
        within(Duration.ofMillis(500), ENDED);
    }

    @Test
    void a_change_that_waits_for_its_lock_blocks_others_only_briefly_and_holds_no_other_lock() throws Exception {
        newer.withFile(
                next + "_columns.sql",
                NewerCode.text(
                        "-- min_code: 1",
                        "-- transaction: off",
                        "ALTER TABLE carillon.run ADD COLUMN IF NOT EXISTS later integer;",
                        "ALTER TABLE carillon.schedule ADD COLUMN IF NOT EXISTS later integer;"));
        CompletableFuture<Void> migration;
        try (Connection reader = database.dataSource().getConnection();
                Statement open = reader.createStatement()) {
            reader.setAutoCommit(false);
            open.execute("SELECT count(*) FROM carillon.schedule");
            migration = migrating();
            untilItWaits("ALTER TABLE carillon.schedule");

            within(Duration.ofMillis(500), "DELETE FROM carillon.run");
            // A statement queued behind the change waits as long as the change itself waits.
            within(Duration.ofSeconds(6), "SELECT count(*) FROM carillon.schedule");

            assertThat(migration).isNotDone();
        }
        migration.get(30, TimeUnit.SECONDS);
        within(Duration.ofSeconds(1), "SELECT later FROM carillon.schedule");
    }
}
