package io.carillon.it.planning;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.it.fixture.StoreContract;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Every instant of a schedule has exactly one ledger entry, even if several nodes and users act on
 * the schedule concurrently.
 */
abstract class LedgerContract extends StoreContract {
    /** Set this property to the printed seed to repeat a failed run. */
    private static final Long SEED = Long.getLong("carillon.seed");

    @RepeatedTest(3)
    void every_instant_has_one_entry_under_concurrent_operations() {
        check(SEED != null ? SEED : RandomGenerator.getDefault().nextLong(), 12);
    }

    @Tag("slow")
    @Test
    void every_instant_has_one_entry_over_many_seeds() {
        for (int i = 0; i < 200; i++) {
            fixture().clear();
            check(RandomGenerator.getDefault().nextLong(), 25);
        }
    }

    private void check(long seed, int phases) {
        System.out.println("ledger seed " + seed + ", repeat with -Dcarillon.seed=" + seed);
        LedgerStress stress = new LedgerStress(fixture(), seed);
        for (int phase = 0; phase < phases; phase++) stress.phase();
        stress.finish();
        assertThat(stress.violations()).as("seed " + seed).isEmpty();
    }
}
