package io.carillon.it.store;

import static io.carillon.it.frontdoor.House.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempt;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A rewrite or a restore leaves the table of runs as small as its rows: plans made then would scan for ever. */
class KeepRoomTest extends StoreContract {
    /** Less than ended there: what a claim left behind is tidied up by whoever comes by. */
    private static final long MANY = 2_000;

    @RegisterExtension
    static final PostgresBench BENCH = new PostgresBench();

    @Override
    StoreBench bench() {
        return BENCH;
    }

    @Test
    void the_table_of_runs_is_given_room_again_after_a_rewrite() {
        enqueue(Order.mail());
        assertThat(storage().housekeeping().keepRoom())
                .as("there is room from the start")
                .isFalse();
        BENCH.database().execute("VACUUM FULL carillon.run");
        assertThat(pages()).isLessThan(10);

        assertThat(storage().housekeeping().keepRoom()).isTrue();

        assertThat(pages()).isGreaterThanOrEqualTo(300);
        assertThat(storage().housekeeping().keepRoom()).isFalse();
        assertThat(BENCH.rows().texts("SELECT project FROM carillon.run")).containsExactly(PROJECT);
    }

    @Test
    void a_sweep_makes_the_room_of_ended_runs_usable_again() {
        int runs = 10_000;
        storeAndEnd(runs);
        int pages = pages();

        storage().housekeeping().sweepRuns();
        storeAndEnd(runs);

        assertThat(pages())
                .as("without the sweep the second half had come on top")
                .isLessThan(pages * 5 / 4);
    }

    @Test
    void what_ended_runs_left_behind_is_counted_until_it_is_swept() {
        storeAndEnd(5_000);
        enqueue(Order.mail(), 300);

        // The database counts with a delay of about a second, what it swept as well as what came before.
        eventually().until(() -> storage().housekeeping().dust().dead() >= MANY);
        eventually().untilAsserted(() -> {
            storage().housekeeping().sweepRuns();
            assertThat(storage().housekeeping().dust().dead()).isLessThan(MANY);
            assertThat(storage().housekeeping().dust().living()).isBetween(1L, 1_000L);
        });
    }

    private void storeAndEnd(int runs) {
        UUID node = node();
        enqueue(Order.mail(), runs);
        for (List<Attempt> some = claim(node, 1_000); !some.isEmpty(); some = claim(node, 1_000))
            storage()
                    .runs()
                    .apply(
                            node,
                            some.stream().map(one -> ended(one, complete())).toList());
    }

    private static int pages() {
        return Integer.parseInt(BENCH.rows()
                .texts("SELECT (pg_relation_size('carillon.run') / current_setting('block_size')::int)::text")
                .get(0));
    }
}
