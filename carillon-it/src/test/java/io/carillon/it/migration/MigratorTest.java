package io.carillon.it.migration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.SchemaMode;
import io.carillon.internal.postgres.migration.Migrator;
import io.carillon.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssertAlternative;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class MigratorTest {
    private final TestDatabase database = TestDatabase.empty();
    private final Migrator migrator = new Migrator(database.dataSource());

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void creates_the_tables_and_records_every_file_with_the_database_time() {
        migrator.run(SchemaMode.AUTO);

        assertThat(Catalog.objects(database)).anyMatch(line -> line.startsWith("table run r "));
        assertThat(Catalog.migrations(database)).hasSize(migrator.newestNumber());
        assertThat(Catalog.migrations(database).get(0)).matches("1 tables [0-9a-f]{64} 1 true");
    }

    @Test
    void changes_nothing_the_second_time() {
        migrator.run(SchemaMode.AUTO);
        List<String> first =
                database.query("SELECT migration::text FROM carillon.migration").texts();

        migrator.run(SchemaMode.AUTO);

        assertThat(database.query("SELECT migration::text FROM carillon.migration")
                        .texts())
                .isEqualTo(first);
    }

    @Test
    void applies_each_file_once_when_twenty_migrators_start_together() throws Exception {
        int starters = 20;
        CyclicBarrier start = new CyclicBarrier(starters);
        ExecutorService threads = Executors.newFixedThreadPool(starters);
        List<Future<Void>> started = new ArrayList<>();
        Callable<Void> starter = () -> {
            Migrator own = new Migrator(database.pool(1));
            start.await(30, TimeUnit.SECONDS);
            own.run(SchemaMode.AUTO);
            new Migrator(database.pool(1)).run(SchemaMode.VALIDATE);
            return null;
        };

        for (int i = 0; i < starters; i++) started.add(threads.submit(starter));

        for (Future<Void> each : started) each.get(60, TimeUnit.SECONDS);
        threads.shutdown();
        assertThat(Catalog.migrations(database)).hasSize(migrator.newestNumber());
    }

    @Test
    void does_not_check_the_schema_in_mode_off() {
        migrator.run(SchemaMode.OFF);

        assertThat(Catalog.schemaExists(database)).isFalse();
    }

    @Test
    void validates_without_changes_and_reports_what_an_old_schema_lacks() {
        refuses(ErrorCode.SCHEMA_TOO_OLD, migrator, SchemaMode.VALIDATE, "is at version 0 and lacks 0001_tables.sql")
                .withMessageContaining("Schema.sql(1) or 'carillon migrate --print'");
        assertThat(Catalog.schemaExists(database)).isFalse();

        migrator.run(SchemaMode.AUTO);
        migrator.run(SchemaMode.VALIDATE);
    }

    @ParameterizedTest
    @EnumSource(names = {"AUTO", "VALIDATE"})
    void refuses_a_file_that_was_changed_after_it_was_applied(SchemaMode mode) {
        migrator.run(SchemaMode.AUTO);
        database.execute("UPDATE carillon.migration SET checksum = repeat('0', 64) WHERE number = 1");

        refuses(ErrorCode.SCHEMA_CHANGED, migrator, mode, "this release has 0001_tables.sql (checksum ")
                .withMessageContaining("migration 1 was applied as 0001_tables (checksum 000000000000)");
    }

    @ParameterizedTest
    @EnumSource(names = {"AUTO", "VALIDATE"})
    void refuses_the_schema_of_a_pre_release_and_says_what_to_do(SchemaMode mode) {
        database.execute("""
                CREATE SCHEMA carillon;
                CREATE TABLE carillon.migration (
                  number integer PRIMARY KEY, name text, checksum text, min_code integer, applied_at timestamptz);
                INSERT INTO carillon.migration
                SELECT n, CASE n WHEN 1 THEN 'foundation' ELSE 'other' END, repeat('a', 64), n, statement_timestamp()
                  FROM generate_series(1, 26) n;
                """);
        List<String> before = Catalog.objects(database);

        refuses(ErrorCode.SCHEMA_CHANGED, migrator, mode, "created by a pre-release of Carillon")
                .withMessageContaining("migration 1 was applied as 0001_foundation")
                .withMessageContaining("There is no upgrade before version 0.1")
                .withMessageContaining("DROP SCHEMA carillon CASCADE");
        assertThatExceptionOfType(CarillonException.class).isThrownBy(migrator::appliedNumber);

        assertThat(Catalog.objects(database)).isEqualTo(before);
        database.execute("DROP SCHEMA carillon CASCADE");
        migrator.run(SchemaMode.AUTO);
    }

    @ParameterizedTest
    @EnumSource(names = {"AUTO", "VALIDATE"})
    void runs_on_a_newer_schema_while_its_min_code_allows_it(SchemaMode mode) {
        migrator.run(SchemaMode.AUTO);
        int next = migrator.newestNumber() + 1;
        database.execute("INSERT INTO carillon.migration VALUES (%d, 'later', 'x', %d, carillon.clock())"
                .formatted(next, migrator.newestNumber()));

        migrator.run(mode);

        database.execute("UPDATE carillon.migration SET min_code = %d WHERE number = %d".formatted(next, next));
        refuses(
                ErrorCode.SCHEMA_TOO_NEW,
                migrator,
                mode,
                "%04d_later needs a release with schema version %d or later".formatted(next, next));
    }

    @Test
    void prints_sql_that_creates_the_same_schema_when_applied_manually() {
        try (TestDatabase byHand = TestDatabase.empty()) {
            // Sends statements that cannot run in a transaction separately, as psql does.
            for (String part : migrator.print(1)
                    .split("(?m)^(?=(DROP|CREATE) INDEX CONCURRENTLY|INSERT INTO carillon.migration)", -1))
                byHand.execute(part);

            migrator.run(SchemaMode.AUTO);

            assertThat(Catalog.objects(byHand)).isEqualTo(Catalog.objects(database));
            assertThat(Catalog.migrations(byHand)).isEqualTo(Catalog.migrations(database));
            new Migrator(byHand.dataSource()).run(SchemaMode.VALIDATE);
        }
    }

    @Test
    void prints_only_the_requested_files() {
        assertThat(migrator.print(migrator.newestNumber() + 1)).startsWith("-- Carillon: nothing to apply");
        assertThat(migrator.print(1))
                .contains("psql -1 -v ON_ERROR_STOP=1 -f", "CREATE SCHEMA carillon", "0001_tables.sql");
    }

    @Test
    void a_file_that_fails_in_the_middle_changes_nothing() {
        database.execute("CREATE SCHEMA carillon; CREATE TABLE carillon.unique_key_window (x integer)");
        List<String> before = Catalog.objects(database);

        refuses(ErrorCode.STORAGE, migrator, SchemaMode.AUTO, "0001_tables.sql failed")
                .withMessageContaining("\"unique_key_window\" already exists")
                .withMessageContaining("It changed nothing");

        assertThat(Catalog.objects(database)).isEqualTo(before);
        database.execute("DROP TABLE carillon.unique_key_window");
        migrator.run(SchemaMode.AUTO);
    }

    private static ThrowableAssertAlternative<CarillonException> refuses(
            ErrorCode code, Migrator migrator, SchemaMode mode, String text) {
        return assertThatExceptionOfType(CarillonException.class)
                .isThrownBy(() -> migrator.run(mode))
                .satisfies(e -> assertThat(e.code()).isEqualTo(code))
                .withMessageContaining(text);
    }
}
