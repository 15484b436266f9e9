package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempt;
import io.carillon.run.Lane;
import io.carillon.run.Priority;
import io.carillon.store.ClaimRequest;
import io.carillon.store.HeldRun;
import io.carillon.store.Swept;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What a node holds is found without a look at what waits: pages are counted, not time. {@code -Dcarillon.test.rows=10000000} for the full size, which takes
 * about 10 GB.
 */
@Tag("slow")
class RescueScaleTest extends StoreContract {
    private static final int ROWS = Integer.getInteger("carillon.test.rows", 300_000);
    private static final int LANES = 10_000;
    private static final int HELD = 500;
    private static final int MOST_PAGES = 10_000;

    private static final String FILL = """
            INSERT INTO carillon.run (project, id, queue, class, due_at, ready_at, day, origin, target, target_name, codec, payload)
            SELECT 'p' || n %% 1000, md5(n::text)::uuid, 'q' || n / 1000 %% 10, 1, at, at, '2026-03-02', 'direct', 'handler', 'mail.send', 'json', '\\x7b7d'
              FROM generate_series(1, %d) n, LATERAL (SELECT timestamptz '2026-03-02 11:00Z' + n * interval '100 us' AS at) due
            """;

    private static final String PAGES = """
            SELECT sum(coalesce(heap_blks_hit, 0) + coalesce(heap_blks_read, 0) + coalesce(idx_blks_hit, 0) + coalesce(idx_blks_read, 0))
              FROM pg_statio_all_tables WHERE schemaname = 'carillon'
            """;

    @RegisterExtension
    static final PostgresBench BENCH = new PostgresBench();

    @Override
    StoreBench bench() {
        return BENCH;
    }

    @Test
    void stop_rescue_and_reconcile_read_what_is_held() {
        BENCH.database().execute("ALTER TABLE carillon.run SET (autovacuum_enabled = false)");
        BENCH.database().execute(FILL.formatted(ROWS));
        UUID victim = node();
        UUID stopping = node();
        List<HeldRun> dying = held(victim);
        List<HeldRun> running = held(stopping);
        assertThat(dying).hasSize(HELD);
        assertThat(running).hasSize(HELD);

        long before = pages();
        assertThat(storage().runs().notes(stopping)).isNotEmpty();
        assertThat(Set.copyOf(storage().runs().held(stopping))).isEqualTo(Set.copyOf(running));
        long reconciled = pages();
        assertThat(storage().runs().handBackRows(stopping, running)).isEqualTo(HELD);
        storage().nodes().retire(stopping);
        assertThat(storage().nodes().sweep(3)).isEqualTo(new Swept(1, 0, 0));
        long stopped = pages();
        storage().nodes().declareDead(victim, 0, "test");
        assertThat(storage().nodes().sweep(3)).isEqualTo(new Swept(1, HELD, 0));
        long rescued = pages();
        advance(Duration.ofMinutes(1));
        assertThat(storage().nodes().sweep(3)).isEqualTo(new Swept(2, 0, 0));
        long again = pages();

        System.out.printf(
                "%d rows in %d lanes, %d held: pages of reconcile %d, stop %d, rescue %d, second sweep %d%n",
                ROWS, LANES, HELD, reconciled - before, stopped - reconciled, rescued - stopped, again - rescued);
        assertThat(reconciled - before).isLessThan(MOST_PAGES);
        assertThat(stopped - reconciled).isLessThan(MOST_PAGES);
        assertThat(rescued - stopped).isLessThan(MOST_PAGES);
        assertThat(again - rescued).isLessThan(MOST_PAGES);
    }

    /** Ten runs of each of fifty lanes, in five claims. */
    private List<HeldRun> held(UUID node) {
        List<HeldRun> all = new ArrayList<>();
        for (int claim = 1; claim <= 5; claim++) {
            List<ClaimRequest.Quota> quotas = new ArrayList<>();
            for (int lane = 0; lane < 10; lane++)
                quotas.add(new ClaimRequest.Quota(
                        new Lane("q" + lane, "p" + claim * 10), Priority.of(1), HELD / 50, Instant.MIN));
            for (Attempt one : storage()
                    .runs()
                    .claim(new ClaimRequest(node, quotas, Set.of(), null, claim))
                    .attempts()) all.add(new HeldRun(one.lane().project(), one.run(), one.number()));
        }
        return all;
    }

    /** Idle sessions report what they did within ten seconds. */
    private static long pages() {
        long[] last = {-1};
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofSeconds(11))
                .until(() -> {
                    long now = BENCH.rows().number(PAGES);
                    boolean still = now == last[0];
                    last[0] = now;
                    return still;
                });
        return last[0];
    }
}
