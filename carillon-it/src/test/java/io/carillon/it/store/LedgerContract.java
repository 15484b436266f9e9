package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.random.RandomGenerator;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Every instant of a schedule has exactly one line in the ledger, whatever several nodes and people do to it at the same time. */
abstract class LedgerContract extends StoreContract {
    /** Set to repeat a run that failed. */
    private static final Long SEED = Long.getLong("carillon.seed");

    @RepeatedTest(3)
    void every_instant_has_one_line_whatever_happens_at_the_same_time() {
        check(SEED != null ? SEED : RandomGenerator.getDefault().nextLong(), 12);
    }

    @Tag("slow")
    @Test
    void every_instant_has_one_line_over_many_seeds() {
        for (int i = 0; i < 200; i++) {
            bench().clear();
            check(RandomGenerator.getDefault().nextLong(), 25);
        }
    }

    private void check(long seed, int phases) {
        System.out.println("ledger seed " + seed + ", repeat with -Dcarillon.seed=" + seed);
        LedgerStorm storm = new LedgerStorm(bench(), seed);
        for (int phase = 0; phase < phases; phase++) storm.phase();
        storm.calm();
        assertThat(storm.faults()).as("seed " + seed).isEmpty();
    }
}
