package io.carillon.it.migration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.carillon.postgres.migration.Migrator;
import io.carillon.testkit.TestDatabase;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.value.SchemaMode;
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
    void makes_the_tables_and_enters_every_file_at_the_time_of_the_database() {
        migrator.run(SchemaMode.AUTO);

        assertThat(Catalog.objects(database)).anyMatch(line -> line.startsWith("table run r "));
        assertThat(Catalog.migrations(database)).hasSize(migrator.code());
        assertThat(Catalog.migrations(database).get(0)).matches("1 foundation [0-9a-f]{64} 1 true");
    }

    @Test
    void changes_nothing_the_second_time() {
        migrator.run(SchemaMode.AUTO);
        List<String> first = Catalog.lines(database, "SELECT migration::text FROM carillon.migration");

        migrator.run(SchemaMode.AUTO);

        assertThat(Catalog.lines(database, "SELECT migration::text FROM carillon.migration"))
                .isEqualTo(first);
    }

    @Test
    void applies_each_file_once_when_twenty_start_at_once() throws Exception {
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
        assertThat(Catalog.migrations(database)).hasSize(migrator.code());
    }

    @Test
    void does_not_look_when_it_is_off() {
        migrator.run(SchemaMode.OFF);

        assertThat(Catalog.schemaExists(database)).isFalse();
    }

    @Test
    void validates_without_changing_anything_and_says_what_an_old_schema_lacks() {
        refuses(ErrorCode.SCHEMA_TOO_OLD, migrator, SchemaMode.VALIDATE, "is at number 0 and lacks 0001_foundation.sql")
                .withMessageContaining("Migrator.print(1)");
        assertThat(Catalog.schemaExists(database)).isFalse();

        migrator.run(SchemaMode.AUTO);
        migrator.run(SchemaMode.VALIDATE);
    }

    @ParameterizedTest
    @EnumSource(names = {"AUTO", "VALIDATE"})
    void refuses_a_file_that_was_changed_after_it_was_applied(SchemaMode mode) {
        migrator.run(SchemaMode.AUTO);
        database.execute("UPDATE carillon.migration SET checksum = repeat('0', 64) WHERE number = 1");

        refuses(ErrorCode.SCHEMA_CHANGED, migrator, mode, "0001_foundation.sql is not the file that was applied");
    }

    @ParameterizedTest
    @EnumSource(names = {"AUTO", "VALIDATE"})
    void runs_on_a_newer_schema_exactly_as_long_as_that_allows_it(SchemaMode mode) {
        migrator.run(SchemaMode.AUTO);
        int next = migrator.code() + 1;
        database.execute("INSERT INTO carillon.migration VALUES (%d, 'later', 'x', %d, carillon.clock())"
                .formatted(next, migrator.code()));

        migrator.run(mode);

        database.execute("UPDATE carillon.migration SET min_code = %d WHERE number = %d".formatted(next, next));
        refuses(ErrorCode.SCHEMA_TOO_NEW, migrator, mode, "%04d_later needs code %d or later".formatted(next, next));
    }

    @Test
    void prints_sql_that_gives_the_same_schema_by_hand() {
        try (TestDatabase byHand = TestDatabase.empty()) {
            // As psql does it: what cannot run in a transaction is sent alone.
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
    void prints_only_what_is_asked_for() {
        assertThat(migrator.print(migrator.code() + 1)).startsWith("-- Carillon: nothing to apply");
        assertThat(migrator.print(1))
                .contains("psql -v ON_ERROR_STOP=1 -f", "CREATE SCHEMA carillon", "0001_foundation.sql");
    }

    @Test
    void leaves_nothing_of_a_file_that_broke_in_the_middle() {
        database.execute("CREATE SCHEMA carillon; CREATE TABLE carillon.key_hold (x integer)");
        List<String> before = Catalog.objects(database);

        refuses(ErrorCode.STORAGE, migrator, SchemaMode.AUTO, "0001_foundation.sql failed")
                .withMessageContaining("\"key_hold\" already exists")
                .withMessageContaining("Nothing of it remains");

        assertThat(Catalog.objects(database)).isEqualTo(before);
        database.execute("DROP TABLE carillon.key_hold");
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
