package io.carillon.it.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Lane;
import io.carillon.internal.store.run.BreakerChange;
import io.carillon.internal.store.run.ClaimRequest;
import io.carillon.internal.store.run.LaneInfo;
import io.carillon.internal.store.run.LaneOutcomes;
import io.carillon.internal.store.run.QueueHead;
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
        return storage().lanes().reportOutcomes(node, List.of(new LaneOutcomes(RunSpec.MAIL, well, failed, false)));
    }

    /** Reports attempts that ended after the node had seen the breaker open. */
    private List<BreakerChange> reportAfterOpening(UUID node, int well, int failed) {
        return storage().lanes().reportOutcomes(node, List.of(new LaneOutcomes(RunSpec.MAIL, well, failed, true)));
    }

    private List<Attempt> probe(UUID node) {
        return storage()
                .lanes()
                .claim(new ClaimRequest(node, List.of(laneClaim(RunSpec.MAIL, Priority.NORMAL, 9)), Set.of(), null, 0))
                .attempts();
    }

    private Set<Lane> broken() {
        return storage().lanes().readQueueHead(Instant.MIN).breakers().open();
    }

    private List<LaneInfo.Breaker> listed() {
        return storage().lanes().list(PROJECT).stream().map(LaneInfo::breaker).toList();
    }

    private void openBreaker(UUID node) {
        storage().lanes().setBreaker(RunSpec.MAIL, true);
        assertThat(report(node, 0, 20)).hasSize(1);
    }

    @Test
    void opens_when_half_of_at_least_twenty_attempts_of_all_nodes_failed() {
        UUID one = node();
        UUID two = node();
        storage().lanes().setBreaker(RunSpec.MAIL, true);
        assertThat(report(one, 10, 9)).isEmpty();
        assertThat(report(two, 1, 0)).isEmpty();
        assertThat(report(one, 9, 9)).isEmpty();
        assertThat(report(two, 1, 1))
                .containsExactly(new BreakerChange(RunSpec.MAIL, StoreFixture.NOON.plus(HALF_A_MINUTE)));

        assertThat(report(two, 1, 30)).isEmpty();
        assertThat(broken()).containsExactly(RunSpec.MAIL);
        assertThat(listed()).containsExactly(new LaneInfo.Breaker("open", StoreFixture.NOON.plus(HALF_A_MINUTE)));
    }

    @Test
    void only_the_queue_of_an_endpoint_has_a_breaker_unless_it_is_set() {
        enqueue(RunSpec.mail(), 1);
        Lane endpoint = new Lane("endpoint.orders", PROJECT);
        storage().lanes().setWeight(endpoint, 2);
        QueueHead.Breakers unset = storage().lanes().readQueueHead(Instant.MIN).breakers();

        storage().lanes().setBreaker(RunSpec.MAIL, true);
        assertThat(listed())
                .containsExactly(new LaneInfo.Breaker("closed", null), new LaneInfo.Breaker("closed", null));
        storage().lanes().setBreaker(endpoint, false);

        assertThat(unset.exists(RunSpec.MAIL)).isFalse();
        assertThat(unset.exists(endpoint)).isTrue();
        QueueHead.Breakers set = storage().lanes().readQueueHead(Instant.MIN).breakers();
        assertThat(set.exists(RunSpec.MAIL)).isTrue();
        assertThat(set.exists(endpoint)).isFalse();
        assertThat(listed()).containsExactly(null, new LaneInfo.Breaker("closed", null));
    }

    @Test
    void a_breaker_that_is_removed_while_it_is_open_is_closed_and_does_not_open_again() {
        enqueue(RunSpec.mail(), 3);
        UUID node = node();
        openBreaker(node);

        storage().lanes().setBreaker(RunSpec.MAIL, false);

        assertThat(broken()).isEmpty();
        assertThat(report(node, 0, 20))
                .as("of a node that does not know it yet")
                .isEmpty();
        assertThat(claim(node, 9)).hasSize(3);
        storage().lanes().setBreaker(RunSpec.MAIL, true);
        assertThat(report(node, 0, 20)).hasSize(1);
    }

    @Test
    void setting_a_breaker_that_is_open_leaves_it_open() {
        openBreaker(node());

        storage().lanes().setBreaker(RunSpec.MAIL, true);

        assertThat(broken()).containsExactly(RunSpec.MAIL);
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

        assertThat(reportAfterOpening(node, 1, 0)).containsExactly(new BreakerChange(RunSpec.MAIL, null));
        assertThat(broken()).isEmpty();
        assertThat(claim(node, 9)).hasSize(8);
        assertThat(report(node(), 0, 19)).isEmpty();
    }

    @Test
    void attempts_from_before_the_opening_do_not_decide_about_a_probe() {
        enqueue(RunSpec.mail(), 9);
        UUID one = node();
        UUID unaware = node();
        openBreaker(one);
        advance(HALF_A_MINUTE);
        apply(one, probe(one).get(0), complete());

        assertThat(report(unaware, 0, 25)).isEmpty();
        assertThat(report(unaware, 25, 0)).isEmpty();
        assertThat(broken()).containsExactly(RunSpec.MAIL);
        assertThat(reportAfterOpening(one, 1, 0)).containsExactly(new BreakerChange(RunSpec.MAIL, null));
        assertThat(reportAfterOpening(unaware, 0, 1))
                .as("the probe was decided")
                .isEmpty();
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
            assertThat(reportAfterOpening(node, 0, 1))
                    .containsExactly(new BreakerChange(RunSpec.MAIL, now.plusSeconds(seconds)));
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
        assertThat(reportAfterOpening(survivor, 1, 0)).containsExactly(new BreakerChange(RunSpec.MAIL, null));
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
