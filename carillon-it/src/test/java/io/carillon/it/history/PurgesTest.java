package io.carillon.it.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.internal.postgres.PostgresStorage;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.store.Storage;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A purge removes all expired rows, however many there are, even if one table cannot be cleaned. */
class PurgesTest {
    private static final String DEAD = """
            INSERT INTO carillon.dead_run (project, id, state, queue, priority, attempt, failures, crashes, due_at,
              origin, target, target_name, codec, payload, died_at)
            SELECT 'default', gen_random_uuid(), 'dead', 'q', 1, 1, 1, 0, carillon.clock(), 'direct', 'handler', 'h',
              'json', '', carillon.clock() - interval '31 days'
              FROM generate_series(1, %d)
            """;

    private static final String HOLDS = """
            INSERT INTO carillon.unique_key_window
              SELECT 'default', 'q', 'k' || i, gen_random_uuid(), carillon.clock() - interval '1 s'
              FROM generate_series(1, %d) i
            """;

    private final TestDatabase database = TestDatabase.migrated();
    private final Storage storage = new PostgresStorage(database.dataSource(), TickPlanner.defaults());

    @AfterEach
    void close() {
        storage.close();
        database.close();
    }

    private int purge() {
        return storage.maintenance().purge(Duration.ofDays(30), Duration.ofHours(1));
    }

    @Test
    void everything_expired_is_removed_in_one_round() {
        database.execute(DEAD.formatted(12_000));
        database.execute(HOLDS.formatted(12_000));

        assertThat(purge()).isEqualTo(24_000);
        assertThat(purge()).isZero();
    }

    @Test
    void a_table_that_cannot_be_cleaned_does_not_stop_the_cleaning_of_others() {
        database.execute(DEAD.formatted(1));
        database.execute(HOLDS.formatted(1));
        database.execute("""
                CREATE FUNCTION public.no_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                  RAISE EXCEPTION 'broken page';
                END $$;
                CREATE TRIGGER no_delete BEFORE DELETE ON carillon.dead_run FOR EACH ROW
                  EXECUTE FUNCTION public.no_delete()
                """);

        assertThatThrownBy(this::purge).hasStackTraceContaining("broken page");

        database.execute("DROP TRIGGER no_delete ON carillon.dead_run");
        // The first purge removed the key; this one removes the dead run.
        assertThat(purge()).isEqualTo(1);
    }
}
