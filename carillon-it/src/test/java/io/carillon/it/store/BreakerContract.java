package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempt;
import io.carillon.run.Lane;
import io.carillon.run.Priority;
import io.carillon.store.BreakerChange;
import io.carillon.store.ClaimRequest;
import io.carillon.store.LaneInfo;
import io.carillon.store.LaneLoad;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** A lane most of whose attempts fail is held back and probed. */
abstract class BreakerContract extends StoreContract {
    private static final Duration HALF_A_MINUTE = Duration.ofSeconds(30);

    private List<BreakerChange> report(UUID node, int well, int failed) {
        return storage().lanes().report(node, List.of(new LaneLoad(Order.MAIL, well, failed)));
    }

    private List<Attempt> probe(UUID node) {
        return storage()
                .lanes()
                .claim(new ClaimRequest(node, List.of(quota(Order.MAIL, Priority.NORMAL, 9)), Set.of(), null, 0))
                .attempts();
    }

    private Set<Lane> broken() {
        return storage().lanes().look(Instant.MIN).broken();
    }

    private void opened(UUID node) {
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
                .containsExactly(new BreakerChange(Order.MAIL, StoreBench.NOON.plus(HALF_A_MINUTE)));

        assertThat(report(two, 1, 30)).isEmpty();
        assertThat(broken()).containsExactly(Order.MAIL);
        assertThat(storage().lanes().list(PROJECT))
                .extracting(LaneInfo::breaker)
                .containsExactly(new LaneInfo.Breaker("open", StoreBench.NOON.plus(HALF_A_MINUTE)));
    }

    @Test
    void what_a_node_told_more_than_a_minute_ago_does_not_count() {
        report(node(), 0, 15);
        advance(Duration.ofSeconds(61));

        assertThat(report(node(), 0, 15)).isEmpty();
    }

    @Test
    void while_it_is_open_nothing_starts_and_then_one_probe_in_the_cluster() {
        enqueue(Order.mail(), 9);
        UUID one = node();
        UUID two = node();
        opened(one);

        assertThat(claim(one, 9)).isEmpty();
        assertThat(probe(one)).isEmpty();
        advance(HALF_A_MINUTE);
        assertThat(probe(two)).hasSize(1);
        assertThat(probe(one)).isEmpty();
        advance(Duration.ofMinutes(10));
        assertThat(probe(one)).as("while the probe is at work").isEmpty();
    }

    @Test
    void a_probe_that_goes_well_closes_it_and_old_failures_are_forgotten() {
        enqueue(Order.mail(), 9);
        UUID node = node();
        opened(node);
        advance(HALF_A_MINUTE);
        apply(node, probe(node).get(0), complete());

        assertThat(report(node, 1, 0)).containsExactly(new BreakerChange(Order.MAIL, null));
        assertThat(broken()).isEmpty();
        assertThat(claim(node, 9)).hasSize(8);
        assertThat(report(node(), 0, 19)).isEmpty();
    }

    @Test
    void each_probe_that_fails_doubles_the_pause_up_to_ten_minutes() {
        enqueue(Order.mail(), 30);
        UUID node = node();
        opened(node);
        advance(HALF_A_MINUTE);
        for (int seconds : new int[] {60, 120, 240, 480, 600, 600}) {
            Attempt attempt = probe(node).get(0);
            Instant now = bench().clock().now();
            apply(node, attempt, complete());
            assertThat(report(node, 0, 1)).containsExactly(new BreakerChange(Order.MAIL, now.plusSeconds(seconds)));
            advance(Duration.ofSeconds(seconds).minusMillis(1));
            assertThat(probe(node)).isEmpty();
            advance(Duration.ofMillis(1));
        }
    }

    @Test
    void a_probe_whose_node_died_is_tried_again_by_another_a_minute_later() {
        enqueue(Order.mail(), 3);
        UUID victim = node();
        UUID heir = node();
        opened(heir);
        advance(HALF_A_MINUTE);
        probe(victim);
        storage().nodes().declareDead(victim, 0, "test");
        storage().nodes().sweep(3);

        assertThat(probe(heir)).isEmpty();
        advance(Duration.ofMinutes(1));
        apply(heir, probe(heir).get(0), complete());
        assertThat(report(heir, 1, 0)).containsExactly(new BreakerChange(Order.MAIL, null));
    }

    @Test
    void a_probe_that_vanished_without_a_word_is_followed_by_another_a_minute_later() {
        enqueue(Order.mail(), 3);
        UUID node = node();
        opened(node);
        advance(HALF_A_MINUTE);
        storage().runs().handBack(node, probe(node));

        assertThat(probe(node)).isEmpty();
        advance(Duration.ofMinutes(1));
        assertThat(probe(node)).hasSize(1);
    }

    @Test
    void resuming_the_queue_closes_it_by_hand() {
        enqueue(Order.mail(), 3);
        UUID node = node();
        opened(node);

        assertThat(storage().lanes().resume(Order.MAIL)).isTrue();
        assertThat(claim(node, 9)).hasSize(3);
        assertThat(storage().lanes().resume(Order.MAIL)).isFalse();
    }
}
