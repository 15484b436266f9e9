package io.carillon.it.scale;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Lane;
import io.carillon.internal.store.node.RescueResult;
import io.carillon.internal.store.run.ClaimRequest;
import io.carillon.internal.store.run.OwnedRun;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.StoreContract;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.Priority;
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
 * The store finds the runs of a node without reading waiting runs. The test counts pages, which do not depend on the
 * machine. Use {@code -Dcarillon.test.rows=10000000} for the full size, which takes about 10 GB.
 */
@Tag("slow")
class RescueScaleTest extends StoreContract {
    private static final int ROWS = Integer.getInteger("carillon.test.rows", 300_000);
    private static final int LANES = 10_000;
    private static final int HELD = 500;
    private static final int MOST_PAGES = 10_000;

    private static final String FILL = """
            INSERT INTO carillon.run (project, id, queue, priority, due_at, ready_at, day, origin, target, target_name,
              codec, payload)
            SELECT 'p' || n %% 1000, md5(n::text)::uuid, 'q' || n / 1000 %% 10, 1, at, at, '2026-03-02', 'direct',
              'handler', 'mail.send', 'json', '\\x7b7d'
              FROM generate_series(1, %d) n, LATERAL
                (SELECT timestamptz '2026-03-02 11:00Z' + n * interval '100 us' AS at) due
            """;

    private static final String PAGES = """
            SELECT sum(coalesce(heap_blks_hit, 0) + coalesce(heap_blks_read, 0)
                       + coalesce(idx_blks_hit, 0) + coalesce(idx_blks_read, 0))
              FROM pg_statio_all_tables WHERE schemaname = 'carillon'
            """;

    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    @Test
    void stopping_rescue_and_reconciliation_read_only_the_runs_of_the_node() {
        FIXTURE.database().execute("ALTER TABLE carillon.run SET (autovacuum_enabled = false)");
        FIXTURE.database().execute(FILL.formatted(ROWS));
        UUID victim = node();
        UUID stopping = node();
        List<OwnedRun> dying = held(victim);
        List<OwnedRun> running = held(stopping);
        assertThat(dying).hasSize(HELD);
        assertThat(running).hasSize(HELD);

        long before = pages();
        assertThat(storage().runs().claimRecords(stopping)).isNotEmpty();
        assertThat(Set.copyOf(storage().runs().ownedRuns(stopping))).isEqualTo(Set.copyOf(running));
        long reconciled = pages();
        assertThat(storage().runs().handBackRows(stopping, running)).isEqualTo(HELD);
        storage().nodes().retire(stopping);
        assertThat(storage().nodes().rescue(3)).isEqualTo(new RescueResult(1, 0, 0));
        long stopped = pages();
        storage().nodes().declareDead(victim, 0, "test");
        assertThat(storage().nodes().rescue(3)).isEqualTo(new RescueResult(1, HELD, 0));
        long rescued = pages();
        advance(Duration.ofMinutes(1));
        assertThat(storage().nodes().rescue(3)).isEqualTo(new RescueResult(2, 0, 0));
        long again = pages();

        System.out.printf(
                "pages read rows=%d lanes=%d held=%d reconcile=%d stop=%d rescue=%d secondRescue=%d%n",
                ROWS, LANES, HELD, reconciled - before, stopped - reconciled, rescued - stopped, again - rescued);
        assertThat(reconciled - before).isLessThan(MOST_PAGES);
        assertThat(stopped - reconciled).isLessThan(MOST_PAGES);
        assertThat(rescued - stopped).isLessThan(MOST_PAGES);
        assertThat(again - rescued).isLessThan(MOST_PAGES);
    }

    /** Claims ten runs of each of fifty lanes, in five claims. */
    private List<OwnedRun> held(UUID node) {
        List<OwnedRun> all = new ArrayList<>();
        for (int claim = 1; claim <= 5; claim++) {
            List<ClaimRequest.LaneClaim> laneClaims = new ArrayList<>();
            for (int lane = 0; lane < 10; lane++)
                laneClaims.add(new ClaimRequest.LaneClaim(
                        new Lane("q" + lane, "p" + claim * 10), Priority.of(1), HELD / 50, Instant.MIN));
            for (Attempt one : storage()
                    .runs()
                    .claim(new ClaimRequest(node, laneClaims, Set.of(), null, claim))
                    .attempts()) all.add(new OwnedRun(one.lane().project(), one.run(), one.number()));
        }
        return all;
    }

    /**
     * Reads the page counter until it stops changing, because idle sessions report their counters within ten seconds.
     */
    private static long pages() {
        long[] last = {-1};
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofSeconds(11))
                .until(() -> {
                    long now = FIXTURE.query(PAGES).number();
                    boolean still = now == last[0];
                    last[0] = now;
                    return still;
                });
        return last[0];
    }
}
