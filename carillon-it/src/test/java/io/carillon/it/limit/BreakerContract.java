package io.carillon.it.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Lane;
import io.carillon.internal.store.run.BreakerChange;
import io.carillon.internal.store.run.ClaimRequest;
import io.carillon.internal.store.run.LaneInfo;
import io.carillon.internal.store.run.LaneOutcomes;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreContract;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.Priority;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The circuit breaker of a lane: it opens when most attempts fail, and a probe decides whether it closes. */
abstract class BreakerContract extends StoreContract {
    private static final Duration HALF_A_MINUTE = Duration.ofSeconds(30);

    private List<BreakerChange> report(UUID node, int well, int failed) {
        return storage().lanes().reportOutcomes(node, List.of(new LaneOutcomes(RunSpec.MAIL, well, failed)));
    }

    private List<Attempt> probe(UUID node) {
        return storage()
                .lanes()
                .claim(new ClaimRequest(node, List.of(laneClaim(RunSpec.MAIL, Priority.NORMAL, 9)), Set.of(), null, 0))
                .attempts();
    }

    private Set<Lane> broken() {
        return storage().lanes().readQueueHead(Instant.MIN).openBreakers();
    }

    private void openBreaker(UUID node) {
        assertThat(report(node, 0, 20)).hasSize(1);
    }

    @Test
    void opens_when_half_of_at_least_twenty_attempts_of_all_nodes_failed() {
        UUID one = node();
        UUID two = node();
        assertThat(report(one, 10, 9)).isEmpty();
        assertThat(report(two, 1, 0)).isEmpty();
        assertThat(report(one, 9, 9)).isEmpty();
        assertThat(report(two, 1, 1))
                .containsExactly(new BreakerChange(RunSpec.MAIL, StoreFixture.NOON.plus(HALF_A_MINUTE)));

        assertThat(report(two, 1, 30)).isEmpty();
        assertThat(broken()).containsExactly(RunSpec.MAIL);
        assertThat(storage().lanes().list(PROJECT))
                .extracting(LaneInfo::breaker)
                .containsExactly(new LaneInfo.Breaker("open", StoreFixture.NOON.plus(HALF_A_MINUTE)));
    }

    @Test
    void reports_older_than_a_minute_do_not_count() {
        report(node(), 0, 15);
        advance(Duration.ofSeconds(61));

        assertThat(report(node(), 0, 15)).isEmpty();
    }

    @Test
    void an_open_breaker_stops_all_starts_and_then_admits_one_probe_in_the_cluster() {
        enqueue(RunSpec.mail(), 9);
        UUID one = node();
        UUID two = node();
        openBreaker(one);

        assertThat(claim(one, 9)).isEmpty();
        assertThat(probe(one)).isEmpty();
        advance(HALF_A_MINUTE);
        assertThat(probe(two)).hasSize(1);
        assertThat(probe(one)).isEmpty();
        advance(Duration.ofMinutes(10));
        assertThat(probe(one)).as("while the probe runs").isEmpty();
    }

    @Test
    void a_probe_that_succeeds_closes_the_breaker_and_clears_old_failures() {
        enqueue(RunSpec.mail(), 9);
        UUID node = node();
        openBreaker(node);
        advance(HALF_A_MINUTE);
        apply(node, probe(node).get(0), complete());

        assertThat(report(node, 1, 0)).containsExactly(new BreakerChange(RunSpec.MAIL, null));
        assertThat(broken()).isEmpty();
        assertThat(claim(node, 9)).hasSize(8);
        assertThat(report(node(), 0, 19)).isEmpty();
    }

    @Test
    void each_failed_probe_doubles_the_open_time_up_to_ten_minutes() {
        enqueue(RunSpec.mail(), 30);
        UUID node = node();
        openBreaker(node);
        advance(HALF_A_MINUTE);
        for (int seconds : new int[] {60, 120, 240, 480, 600, 600}) {
            Attempt attempt = probe(node).get(0);
            Instant now = fixture().clock().now();
            apply(node, attempt, complete());
            assertThat(report(node, 0, 1)).containsExactly(new BreakerChange(RunSpec.MAIL, now.plusSeconds(seconds)));
            advance(Duration.ofSeconds(seconds).minusMillis(1));
            assertThat(probe(node)).isEmpty();
            advance(Duration.ofMillis(1));
        }
    }

    @Test
    void a_probe_whose_node_died_is_repeated_by_another_node_a_minute_later() {
        enqueue(RunSpec.mail(), 3);
        UUID victim = node();
        UUID survivor = node();
        openBreaker(survivor);
        advance(HALF_A_MINUTE);
        probe(victim);
        storage().nodes().declareDead(victim, 0, "test");
        storage().nodes().rescue(3);

        assertThat(probe(survivor)).isEmpty();
        advance(Duration.ofMinutes(1));
        apply(survivor, probe(survivor).get(0), complete());
        assertThat(report(survivor, 1, 0)).containsExactly(new BreakerChange(RunSpec.MAIL, null));
    }

    @Test
    void a_probe_that_was_handed_back_is_followed_by_another_a_minute_later() {
        enqueue(RunSpec.mail(), 3);
        UUID node = node();
        openBreaker(node);
        advance(HALF_A_MINUTE);
        storage().runs().handBack(node, probe(node));

        assertThat(probe(node)).isEmpty();
        advance(Duration.ofMinutes(1));
        assertThat(probe(node)).hasSize(1);
    }

    @Test
    void resuming_the_queue_closes_the_breaker() {
        enqueue(RunSpec.mail(), 3);
        UUID node = node();
        openBreaker(node);

        assertThat(storage().lanes().resume(RunSpec.MAIL)).isTrue();
        assertThat(claim(node, 9)).hasSize(3);
        assertThat(storage().lanes().resume(RunSpec.MAIL)).isFalse();
    }
}
