package io.carillon.it.history;

import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreContract;
import io.carillon.it.fixture.StoreFixture;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * After a rewrite or a restore the run table has few pages. Generic plans made at that time would choose a sequential
 * scan and keep it, so maintenance reserves pages again.
 */
class ReservePagesTest extends StoreContract {
    /** Fewer than the ended runs, because sessions remove some dead rows while they read the pages. */
    private static final long MANY = 2_000;

    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    @Test
    void the_pages_of_the_run_table_are_reserved_again_after_a_rewrite() {
        enqueue(RunSpec.mail());
        assertThat(storage().maintenance().reservePages())
                .as("the migration reserved pages")
                .isFalse();
        FIXTURE.database().execute("VACUUM FULL carillon.run");
        assertThat(pages()).isLessThan(10);

        assertThat(storage().maintenance().reservePages()).isTrue();

        assertThat(pages()).isGreaterThanOrEqualTo(300);
        assertThat(storage().maintenance().reservePages()).isFalse();
        assertThat(FIXTURE.query("SELECT project FROM carillon.run").texts()).containsExactly(PROJECT);
    }

    @Test
    void a_vacuum_makes_the_space_of_ended_runs_usable_again() {
        int runs = 10_000;
        storeAndEnd(runs);
        int pages = pages();

        storage().maintenance().vacuumRuns();
        storeAndEnd(runs);

        assertThat(pages()).as("the second half reuses the space of the first").isLessThan(pages * 5 / 4);
    }

    @Test
    void dead_rows_of_ended_runs_are_counted_until_they_are_vacuumed() {
        storeAndEnd(5_000);
        enqueue(RunSpec.mail(), 300);

        // PostgreSQL updates these counters with a delay of about a second, after writes as well as after a vacuum.
        eventually().until(() -> storage().maintenance().tableStats().deadRows() >= MANY);
        eventually().untilAsserted(() -> {
            storage().maintenance().vacuumRuns();
            assertThat(storage().maintenance().tableStats().deadRows()).isLessThan(MANY);
            assertThat(storage().maintenance().tableStats().liveRows()).isBetween(1L, 1_000L);
        });
    }

    private void storeAndEnd(int runs) {
        UUID node = node();
        enqueue(RunSpec.mail(), runs);
        for (List<Attempt> some = claim(node, 1_000); !some.isEmpty(); some = claim(node, 1_000))
            storage()
                    .runs()
                    .apply(
                            node,
                            some.stream().map(one -> ended(one, complete())).toList());
    }

    private static int pages() {
        return (int) FIXTURE.query("SELECT pg_relation_size('carillon.run') / current_setting('block_size')::int")
                .number();
    }
}
