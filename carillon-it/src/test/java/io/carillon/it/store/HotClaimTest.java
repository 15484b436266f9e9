package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A claim writes no index: the new version of the row stays on its page. */
class HotClaimTest extends StoreContract {
    private static final int RUNS = 2_000;

    @RegisterExtension
    static final PostgresBench BENCH = new PostgresBench();

    @Override
    StoreBench bench() {
        return BENCH;
    }

    @Test
    void every_claim_is_a_hot_update() {
        enqueue(Order.mail(), RUNS);
        UUID node = node();
        long updates = updates("n_tup_upd");
        long hot = updates("n_tup_hot_upd");

        for (int claimed = 0; claimed < RUNS; ) claimed += claim(node, 100).size();

        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(() -> assertThat(updates("n_tup_upd") - updates).isEqualTo(RUNS));
        assertThat(updates("n_tup_hot_upd") - hot).isGreaterThanOrEqualTo(RUNS * 99 / 100);
    }

    /** Sessions report what they did with a delay; a new one sees what was reported. */
    private static long updates(String column) {
        return BENCH.rows()
                .number("SELECT " + column
                        + " FROM pg_stat_user_tables WHERE schemaname = 'carillon' AND relname = 'run'");
    }
}
