package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A rewrite or a restore leaves the table of runs as small as its rows: plans made then would scan for ever. */
class KeepRoomTest extends StoreContract {
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

    private static int pages() {
        return Integer.parseInt(BENCH.rows()
                .texts("SELECT (pg_relation_size('carillon.run') / current_setting('block_size')::int)::text")
                .get(0));
    }
}
