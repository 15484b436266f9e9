package io.carillon.it.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.run.GateName;
import io.carillon.internal.store.run.GateStore;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreContract;
import io.carillon.run.Explanation;
import io.carillon.run.RunId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Rate keys: how many runs of a key start in any period. */
abstract class RateKeyContract extends StoreContract {
    private static final GateName SHOP = new GateName(PROJECT, "rate:1000:shop");
    private static final RunSpec THREE_A_SECOND = RunSpec.mail().rateKey("shop", 3, SECOND);
    /** One second, plus the margin for the time between the claim and the start of the handler. */
    private static final Duration PERIOD_WITH_MARGIN = Duration.ofMillis(1_050);

    private GateStore.PromotionResult pass() {
        return storage().gates().promote(List.of(SHOP));
    }

    private int started(UUID node) {
        pass();
        return claim(node, 99).size();
    }

    @Test
    void the_allowed_number_of_runs_starts_immediately_and_the_next_after_a_period() {
        enqueue(THREE_A_SECOND, 7);
        UUID node = node();

        assertThat(pass().lanes()).containsExactly(RunSpec.MAIL);
        List<Attempt> first = claim(node, 99);
        assertThat(first).hasSize(3);
        first.forEach(attempt -> apply(node, attempt, complete()));
        assertThat(started(node)).isZero();

        advance(SECOND);
        assertThat(started(node)).isZero();
        advance(PERIOD_WITH_MARGIN.minus(SECOND));
        assertThat(started(node)).isEqualTo(3);
        pass();
        advance(PERIOD_WITH_MARGIN);
        assertThat(started(node)).isEqualTo(1);
    }

    @Test
    void promoted_runs_count_until_a_period_after_their_start() {
        enqueue(THREE_A_SECOND, 9);
        UUID node = node();
        pass();

        advance(Duration.ofMinutes(10));
        assertThat(pass().lanes()).isEmpty();
        assertThat(claim(node, 2)).hasSize(2);
        assertThat(started(node)).as("the third promoted run").isEqualTo(1);
        assertThat(started(node)).isZero();
        advance(PERIOD_WITH_MARGIN);
        assertThat(started(node)).isEqualTo(3);
    }

    @Test
    void an_idle_key_accumulates_no_burst() {
        enqueue(THREE_A_SECOND, 2);
        UUID node = node();
        assertThat(started(node)).isEqualTo(2);
        pass();
        advance(Duration.ofHours(1));

        enqueue(THREE_A_SECOND, 9);
        assertThat(started(node)).isEqualTo(3);
    }

    @Test
    void each_attempt_counts_as_a_start() {
        enqueue(THREE_A_SECOND, 3);
        UUID node = node();
        pass();
        claim(node, 99)
                .forEach(attempt -> apply(node, attempt, new Transition.Retry(Duration.ofMillis(200), "no", false)));

        advance(Duration.ofMillis(500));
        assertThat(started(node)).isZero();
        storage().gates().findArrivals(10);
        advance(PERIOD_WITH_MARGIN);
        assertThat(started(node)).isEqualTo(3);
    }

    @Test
    void a_run_that_was_handed_back_waits_for_its_key_again() {
        enqueue(THREE_A_SECOND, 9);
        UUID node = node();
        pass();
        List<Attempt> first = claim(node, 99);
        pass();
        storage().runs().handBack(node, first.subList(0, 1));

        assertThat(claim(node, 99)).as("before the key allows another start").isEmpty();
        advance(PERIOD_WITH_MARGIN);
        assertThat(started(node)).isEqualTo(3);
        assertThat(started(node)).isZero();
        advance(PERIOD_WITH_MARGIN);
        assertThat(started(node)).isEqualTo(3);
        pass();
        advance(PERIOD_WITH_MARGIN);
        assertThat(started(node)).as("nine runs, and one of them starts twice").isEqualTo(1);
    }

    @Test
    void runs_that_waited_for_a_handler_wait_for_their_key_again() {
        enqueue(THREE_A_SECOND, 6);
        UUID withoutHandler = node("other.work");
        for (int i = 0; i < 2; i++) {
            pass();
            storage().runs().passOn(withoutHandler, claim(withoutHandler, 99));
            pass();
            advance(PERIOD_WITH_MARGIN);
        }

        UUID node = node();
        storage().nodes().wakeParkedRuns(Set.of(RunSpec.HANDLER));

        assertThat(claim(node, 99)).isEmpty();
        assertThat(started(node)).isEqualTo(3);
        assertThat(started(node)).isZero();
        advance(PERIOD_WITH_MARGIN);
        assertThat(started(node)).isEqualTo(3);
    }

    @Test
    void keys_are_independent_and_runs_without_a_key_are_unaffected() {
        enqueue(THREE_A_SECOND, 5);
        enqueue(RunSpec.mail().rateKey("other", 1, Duration.ofHours(1)), 2);
        enqueue(RunSpec.mail(), 2);

        storage().gates().promote(List.of(SHOP, new GateName(PROJECT, "rate:3600000:other")));

        assertThat(claim(node(), 99)).hasSize(3 + 1 + 2);
    }

    @Test
    void runs_that_are_not_due_wait_for_their_due_time() {
        enqueue(THREE_A_SECOND.after(SECOND), 2);
        UUID node = node();
        assertThat(started(node)).isZero();

        advance(SECOND);
        assertThat(storage().gates().findArrivals(10).gates()).containsExactly(SHOP);
        assertThat(started(node)).isEqualTo(2);
    }

    @Test
    void one_node_promotes_a_key_and_another_takes_over_when_it_stops() {
        enqueue(THREE_A_SECOND, 9);
        assertThat(pass().retryAfter()).containsOnlyKeys(SHOP);
        claim(node(), 99);
        GateStore other = fixture().secondStorage().gates();

        assertThat(other.promote(List.of(SHOP)).retryAfter()).isEmpty();
        assertThat(storage().gates().findOpenGates(null, 9).gates()).isEmpty();
        assertThat(pass().retryAfter()).containsEntry(SHOP, SECOND);

        advance(Duration.ofSeconds(2));
        assertThat(other.findOpenGates(null, 9).gates()).containsExactly(SHOP);
        assertThat(other.promote(List.of(SHOP)).retryAfter()).containsOnlyKeys(SHOP);
        assertThat(pass().retryAfter()).isEmpty();
    }

    @Test
    void a_run_that_waits_for_its_key_is_explained_and_a_redriven_run_waits_again() {
        List<RunId> runs = enqueue(THREE_A_SECOND, 4);
        UUID node = node();
        pass();

        Explanation why = storage().runAdmin().explain(PROJECT, runs.get(3)).orElseThrow();
        assertThat(why.blockers())
                .contains("the rate key 'shop' allows 3 starts in any period of 1 second; 0 runs wait before this run");
        Attempt dead = claim(node, 1).get(0);
        apply(node, dead, new Transition.MarkDead("no"));
        storage().runAdmin().redrive(PROJECT, List.of(dead.run()));
        claim(node, 9);
        pass();
        advance(PERIOD_WITH_MARGIN);
        assertThat(started(node)).as("the fourth run and the redriven run").isEqualTo(2);
    }

    @Test
    void keys_without_runs_are_purged_when_their_starts_no_longer_count() {
        enqueue(THREE_A_SECOND);
        UUID node = node();
        pass();
        apply(node, claim(node, 1).get(0), complete());
        pass();
        Duration month = Duration.ofDays(30);

        assertThat(storage().maintenance().purge(month, month)).isZero();
        advance(Duration.ofHours(25).plusMillis(1));
        assertThat(storage().maintenance().purge(month, month)).isEqualTo(1);
    }

    @Test
    void no_period_has_more_starts_than_the_key_allows() {
        long seed = System.nanoTime();
        System.out.println("rate key seed " + seed);
        Random random = new Random(seed);
        int most = 1 + random.nextInt(5);
        enqueue(RunSpec.mail().rateKey("shop", most, SECOND), 80);
        UUID node = node();
        Duration now = Duration.ZERO;
        List<Duration> starts = new ArrayList<>();
        for (int step = 0; step < 250; step++) {
            Duration by = Duration.ofMillis(random.nextInt(300));
            advance(by);
            now = now.plus(by);
            if (random.nextInt(3) > 0) storage().gates().promote(arrived());
            for (Attempt attempt : claim(node, 1 + random.nextInt(4))) {
                starts.add(now);
                if (random.nextInt(3) > 0) apply(node, attempt, complete());
                else if (random.nextBoolean()) storage().runs().handBack(node, List.of(attempt));
                else if (random.nextBoolean())
                    apply(node, attempt, new Transition.Retry(Duration.ofMillis(50), "no", false));
            }
        }

        assertThat(starts).hasSizeGreaterThan(most * 10);
        for (Duration from : starts)
            assertThat(starts.stream()
                            .filter(start -> start.compareTo(from) >= 0 && start.compareTo(from.plus(SECOND)) < 0))
                    .as("seed %d, period that begins at %s", seed, from)
                    .hasSizeLessThanOrEqualTo(most);
    }

    private Set<GateName> arrived() {
        storage().gates().findArrivals(100);
        return Set.of(SHOP);
    }
}
