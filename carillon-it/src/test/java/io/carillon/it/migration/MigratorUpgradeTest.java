package io.carillon.it.migration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.SchemaMode;
import io.carillon.internal.postgres.migration.Migrator;
import io.carillon.testkit.TestDatabase;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The upgrade from this version to the next, with the kinds of files that later versions may ship. */
class MigratorUpgradeTest {
    private static final String INDEX_BESIDE_WORK = NewerCode.text(
            "-- min_code: 1",
            "-- transaction: off",
            "DROP INDEX CONCURRENTLY IF EXISTS carillon.run_later;",
            "CREATE INDEX CONCURRENTLY run_later ON carillon.run (created_at); -- one; two",
            "SELECT 'done;';");

    private final TestDatabase database = TestDatabase.migrated();
    private final Migrator old = new Migrator(database.dataSource());
    private NewerCode newer;
    private String next;

    @BeforeEach
    void version(@TempDir Path directory) throws Exception {
        newer = new NewerCode(directory);
        next = "%04d".formatted(old.newestNumber() + 1);
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void applies_only_the_new_file_and_the_old_code_still_starts() throws Exception {
        newer.withFile(next + "_more.sql", NewerCode.text("-- min_code: 1", "CREATE TABLE carillon.more (x integer);"));

        newer.migrate(database.dataSource());

        assertThat(Catalog.migrations(database)).hasSize(old.newestNumber() + 1);
        assertThat(Catalog.objects(database)).contains("table more r ");
        old.run(SchemaMode.VALIDATE);
        old.run(SchemaMode.AUTO);
    }

    @Test
    void the_old_code_refuses_a_schema_that_requires_newer_code() throws Exception {
        newer.withFile(
                next + "_break.sql",
                NewerCode.text("-- min_code: " + (old.newestNumber() + 1), "CREATE TABLE carillon.more (x integer);"));

        newer.migrate(database.dataSource());

        assertThatExceptionOfType(CarillonException.class)
                .isThrownBy(() -> old.run(SchemaMode.AUTO))
                .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.SCHEMA_TOO_NEW));
    }

    @Test
    void keeps_the_files_before_the_one_that_failed() throws Exception {
        newer.withFile(next + "_good.sql", NewerCode.text("-- min_code: 1", "CREATE TABLE carillon.good (x integer);"))
                .withFile(
                        "%04d_bad.sql".formatted(old.newestNumber() + 2),
                        NewerCode.text(
                                "-- min_code: 1",
                                "CREATE TABLE carillon.bad (x integer);",
                                "INSERT INTO carillon.bad VALUES (1 / 0);"));

        assertThatExceptionOfType(CarillonException.class)
                .isThrownBy(() -> newer.migrate(database.dataSource()))
                .withMessageContaining("_bad.sql failed: ERROR: division by zero");

        assertThat(Catalog.migrations(database)).hasSize(old.newestNumber() + 1);
        assertThat(Catalog.objects(database)).contains("table good r ").doesNotContain("table bad r ");
    }

    @Test
    void builds_an_index_concurrently_when_many_migrators_start_together() throws Exception {
        newer.withFile(next + "_index.sql", INDEX_BESIDE_WORK);

        List<CompletableFuture<Void>> starts = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            starts.add(CompletableFuture.runAsync(() -> newer.migrate(database.pool(1)), runnable -> {
                Thread thread = new Thread(runnable, "starter");
                thread.setDaemon(true);
                thread.start();
            }));
        }

        for (CompletableFuture<Void> start : starts) start.get(30, TimeUnit.SECONDS);
        assertThat(Catalog.migrations(database)).hasSize(old.newestNumber() + 1);
        assertThat(Catalog.objects(database))
                .contains("index CREATE INDEX run_later ON carillon.run USING btree (created_at) true");
    }

    @Test
    void restarts_an_index_build_that_failed() throws Exception {
        database.execute("CREATE TABLE carillon.twice (x integer); INSERT INTO carillon.twice VALUES (1), (1)");
        newer.withFile(
                next + "_unique.sql",
                NewerCode.text(
                        "-- min_code: 1",
                        "-- transaction: off",
                        "DROP INDEX CONCURRENTLY IF EXISTS carillon.twice_x;",
                        "CREATE UNIQUE INDEX CONCURRENTLY twice_x ON carillon.twice (x);"));

        assertThatExceptionOfType(CarillonException.class)
                .isThrownBy(() -> newer.migrate(database.pool(1)))
                .withMessageContaining("could not create unique index")
                .withMessageContaining("starts over at the next start");
        assertThat(Catalog.objects(database))
                .anyMatch(line -> line.contains("INDEX twice_x") && line.endsWith("false"));

        database.execute("TRUNCATE carillon.twice");
        newer.migrate(database.pool(1));
        assertThat(Catalog.objects(database)).anyMatch(line -> line.contains("INDEX twice_x") && line.endsWith("true"));
    }

    @Test
    void releases_the_lock_and_resets_timeouts_after_a_file_without_a_transaction() throws Exception {
        newer.withFile(next + "_index.sql", INDEX_BESIDE_WORK);
        var pool = database.pool(1);
        try (Connection only = pool.getConnection();
                var statement = only.createStatement()) {
            statement.execute("SET lock_timeout = '9s'");
        }

        newer.migrate(pool);

        try (Connection only = pool.getConnection();
                var statement = only.createStatement();
                var row = statement.executeQuery(
                        "SELECT current_setting('lock_timeout') || ' ' || (SELECT count(*) FROM pg_locks"
                                + " WHERE locktype = 'advisory' AND pid = pg_backend_pid())")) {
            row.next();
            assertThat(row.getString(1)).isEqualTo("9s 0");
        }
    }

    @Test
    void prints_from_a_given_number_and_warns_about_statements_that_cannot_run_in_a_transaction() throws Exception {
        newer.withFile(next + "_index.sql", INDEX_BESIDE_WORK);

        String printed = newer.print(database.dataSource(), old.newestNumber() + 1);

        assertThat(printed)
                .contains("executeInTransaction=false", "CREATE INDEX CONCURRENTLY", "INSERT INTO carillon.migration")
                .doesNotContain("0001_tables", "CREATE SCHEMA");
    }
}
