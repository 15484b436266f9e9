package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempt;
import io.carillon.run.Explanation;
import io.carillon.run.RunId;
import io.carillon.run.Transition;
import io.carillon.store.GateName;
import io.carillon.store.GateStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Rate keys: how many runs of a key start in any stretch of time. */
abstract class RateKeyContract extends StoreContract {
    private static final GateName SHOP = new GateName(PROJECT, "rate:1000:shop");
    private static final Order THREE_A_SECOND = Order.mail().rateKey("shop", 3, SECOND);
    /** A second, and what is added for the way from the claim to the handler. */
    private static final Duration OVER = Duration.ofMillis(1_050);

    private GateStore.Passed pass() {
        return storage().gates().pass(List.of(SHOP));
    }

    private int started(UUID node) {
        pass();
        return claim(node, 99).size();
    }

    @Test
    void so_many_start_at_once_and_the_next_when_a_stretch_is_over() {
        enqueue(THREE_A_SECOND, 7);
        UUID node = node();

        assertThat(pass().lanes()).containsExactly(Order.MAIL);
        List<Attempt> first = claim(node, 99);
        assertThat(first).hasSize(3);
        first.forEach(attempt -> apply(node, attempt, complete()));
        assertThat(started(node)).isZero();

        advance(SECOND);
        assertThat(started(node)).isZero();
        advance(OVER.minus(SECOND));
        assertThat(started(node)).isEqualTo(3);
        pass();
        advance(OVER);
        assertThat(started(node)).isEqualTo(1);
    }

    @Test
    void what_passed_and_waits_for_a_slot_counts_until_a_stretch_after_its_start() {
        enqueue(THREE_A_SECOND, 9);
        UUID node = node();
        pass();

        advance(Duration.ofMinutes(10));
        assertThat(pass().lanes()).isEmpty();
        assertThat(claim(node, 2)).hasSize(2);
        assertThat(started(node)).as("the third of those that passed").isEqualTo(1);
        assertThat(started(node)).isZero();
        advance(OVER);
        assertThat(started(node)).isEqualTo(3);
    }

    @Test
    void a_key_that_rested_gets_no_flood() {
        enqueue(THREE_A_SECOND, 2);
        UUID node = node();
        assertThat(started(node)).isEqualTo(2);
        pass();
        advance(Duration.ofHours(1));

        enqueue(THREE_A_SECOND, 9);
        assertThat(started(node)).isEqualTo(3);
    }

    @Test
    void each_attempt_is_a_start() {
        enqueue(THREE_A_SECOND, 3);
        UUID node = node();
        pass();
        claim(node, 99)
                .forEach(attempt -> apply(node, attempt, new Transition.Retry(Duration.ofMillis(200), "no", false)));

        advance(Duration.ofMillis(500));
        assertThat(started(node)).isZero();
        storage().gates().arrive(10);
        advance(OVER);
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

        assertThat(claim(node, 99)).as("before the key lets it start again").isEmpty();
        advance(OVER);
        assertThat(started(node)).isEqualTo(3);
        assertThat(started(node)).isZero();
        advance(OVER);
        assertThat(started(node)).isEqualTo(3);
        pass();
        advance(OVER);
        assertThat(started(node)).as("nine, and the one that starts twice").isEqualTo(1);
    }

    @Test
    void runs_that_waited_for_a_handler_wait_for_their_key_again() {
        enqueue(THREE_A_SECOND, 6);
        UUID ignorant = node("other.work");
        for (int i = 0; i < 2; i++) {
            pass();
            storage().runs().passOn(ignorant, claim(ignorant, 99));
            pass();
            advance(OVER);
        }

        UUID node = node();
        storage().nodes().wake(Set.of(Order.HANDLER));

        assertThat(claim(node, 99)).isEmpty();
        assertThat(started(node)).isEqualTo(3);
        assertThat(started(node)).isZero();
        advance(OVER);
        assertThat(started(node)).isEqualTo(3);
    }

    @Test
    void keys_and_runs_without_one_know_nothing_of_each_other() {
        enqueue(THREE_A_SECOND, 5);
        enqueue(Order.mail().rateKey("other", 1, Duration.ofHours(1)), 2);
        enqueue(Order.mail(), 2);

        storage().gates().pass(List.of(SHOP, new GateName(PROJECT, "rate:3600000:other")));

        assertThat(claim(node(), 99)).hasSize(3 + 1 + 2);
    }

    @Test
    void what_is_not_due_waits_for_its_time() {
        enqueue(THREE_A_SECOND.after(SECOND), 2);
        UUID node = node();
        assertThat(started(node)).isZero();

        advance(SECOND);
        assertThat(storage().gates().arrive(10).gates()).containsExactly(SHOP);
        assertThat(started(node)).isEqualTo(2);
    }

    @Test
    void one_keeper_comes_again_and_another_takes_over_when_it_stays_away() {
        enqueue(THREE_A_SECOND, 9);
        assertThat(pass().again()).containsOnlyKeys(SHOP);
        claim(node(), 99);
        GateStore other = bench().another().gates();

        assertThat(other.pass(List.of(SHOP)).again()).isEmpty();
        assertThat(storage().gates().open(null, 9).gates()).isEmpty();
        assertThat(pass().again()).containsEntry(SHOP, SECOND);

        advance(Duration.ofSeconds(2));
        assertThat(other.open(null, 9).gates()).containsExactly(SHOP);
        assertThat(other.pass(List.of(SHOP)).again()).containsOnlyKeys(SHOP);
        assertThat(pass().again()).isEmpty();
    }

    @Test
    void a_run_that_waits_for_its_key_says_so_and_a_redriven_one_waits_again() {
        List<RunId> runs = enqueue(THREE_A_SECOND, 4);
        UUID node = node();
        pass();

        Explanation why = storage().runDesk().explain(PROJECT, runs.get(3)).orElseThrow();
        assertThat(why.holds()).anyMatch(hold -> hold.contains("the rate key 'shop' lets 3 start in any PT1S"));
        Attempt dead = claim(node, 1).get(0);
        apply(node, dead, new Transition.Die("no"));
        storage().runDesk().redrive(PROJECT, List.of(dead.run()));
        claim(node, 9);
        pass();
        advance(OVER);
        assertThat(started(node)).as("the fourth and the redriven one").isEqualTo(2);
    }

    @Test
    void keys_without_runs_are_forgotten_when_their_starts_do_not_matter_any_more() {
        enqueue(THREE_A_SECOND);
        UUID node = node();
        pass();
        apply(node, claim(node, 1).get(0), complete());
        pass();
        Duration month = Duration.ofDays(30);

        assertThat(storage().housekeeping().purge(month, month)).isZero();
        advance(Duration.ofHours(25).plusMillis(1));
        assertThat(storage().housekeeping().purge(month, month)).isEqualTo(1);
    }

    @Test
    void no_stretch_holds_more_starts_than_the_key_allows_whatever_happens() {
        long seed = System.nanoTime();
        System.out.println("rate keys: seed " + seed);
        Random random = new Random(seed);
        int most = 1 + random.nextInt(5);
        enqueue(Order.mail().rateKey("shop", most, SECOND), 80);
        UUID node = node();
        Duration now = Duration.ZERO;
        List<Duration> starts = new ArrayList<>();
        for (int step = 0; step < 250; step++) {
            Duration by = Duration.ofMillis(random.nextInt(300));
            advance(by);
            now = now.plus(by);
            if (random.nextInt(3) > 0) storage().gates().pass(arrived());
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
                    .as("seed %d, from %s on", seed, from)
                    .hasSizeLessThanOrEqualTo(most);
    }

    private Set<GateName> arrived() {
        storage().gates().arrive(100);
        return Set.of(SHOP);
    }
}
