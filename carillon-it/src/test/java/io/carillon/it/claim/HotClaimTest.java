package io.carillon.it.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreContract;
import io.carillon.it.fixture.StoreFixture;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A claim changes no indexed column, so PostgreSQL keeps the new row version on the same page (HOT update). */
class HotClaimTest extends StoreContract {
    private static final int RUNS = 2_000;

    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    @Test
    void every_claim_is_a_hot_update() {
        enqueue(RunSpec.mail(), RUNS);
        UUID node = node();
        long updates = updates("n_tup_upd");
        long hot = updates("n_tup_hot_upd");

        for (int claimed = 0; claimed < RUNS; ) claimed += claim(node, 100).size();

        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(() -> assertThat(updates("n_tup_upd") - updates).isEqualTo(RUNS));
        assertThat(updates("n_tup_hot_upd") - hot).isGreaterThanOrEqualTo(RUNS * 99 / 100);
    }

    /** Reads a statistics counter. Sessions report their counters with a delay, so the test polls it. */
    private static long updates(String column) {
        return FIXTURE.query("SELECT " + column
                        + " FROM pg_stat_user_tables WHERE schemaname = 'carillon' AND relname = 'run'")
                .number();
    }
}
