package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempt;
import io.carillon.run.Lane;
import io.carillon.run.Origin;
import io.carillon.run.Priority;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.run.Target;
import io.carillon.run.Transition;
import io.carillon.store.ClaimRequest;
import io.carillon.store.Claimed;
import io.carillon.store.HeldRun;
import io.carillon.store.Verdict;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Claiming, and letting go without ending. */
abstract class RunStoreContract extends StoreContract {
    private static final Lane ORDERS = new Lane("orders", "default");
    private static final Lane FOREIGN = new Lane("mail", "other");

    @ParameterizedTest
    @ValueSource(ints = {2, 8})
    void claimers_at_the_same_time_never_share_a_run(int claimers) {
        List<RunId> stored = enqueue(Order.mail(), 2_000);
        UUID node = node();

        List<List<Attempt>> taken = Together.run(claimers, thread -> claimAll(node, 37));

        List<RunId> claimed = taken.stream()
                .flatMap(List::stream)
                .peek(attempt -> assertThat(attempt.number()).isEqualTo(1))
                .map(Attempt::run)
                .toList();
        assertThat(claimed).doesNotHaveDuplicates().hasSameElementsAs(stored);
    }

    /** Until nothing is left: an empty claim may only mean that others hold the locks, so that the last word has the book. */
    private List<Attempt> claimAll(UUID node, int count) {
        List<Attempt> all = new ArrayList<>();
        while (!storage().lanes().look(Instant.MIN).lanes().isEmpty()) all.addAll(claim(node, count));
        return all;
    }

    @Test
    void takes_no_more_than_the_quota_of_each_lane_and_class() {
        for (Lane lane : List.of(Order.MAIL, ORDERS, FOREIGN))
            for (Priority priority : Priority.values())
                enqueue(Order.mail().in(lane).of(priority), 5);

        List<Attempt> claimed = claim(
                node(),
                quota(Order.MAIL, Priority.HIGH, 3),
                quota(Order.MAIL, Priority.BULK, 1),
                quota(ORDERS, Priority.NORMAL, 9),
                quota(FOREIGN, Priority.LOW, 2));

        assertThat(claimed)
                .extracting(
                        attempt -> attempt.lane().queue() + " " + attempt.lane().project() + " " + attempt.priority())
                .containsExactlyInAnyOrder(
                        "mail default HIGH",
                        "mail default HIGH",
                        "mail default HIGH",
                        "mail default BULK",
                        "orders default NORMAL",
                        "orders default NORMAL",
                        "orders default NORMAL",
                        "orders default NORMAL",
                        "orders default NORMAL",
                        "mail other LOW",
                        "mail other LOW");
    }

    @Test
    void takes_what_is_ready_first_and_says_when_each_was_ready() {
        for (int minutes : List.of(7, 2, 9, 4, 5))
            enqueue(Order.mail().at(StoreBench.NOON.minus(Duration.ofMinutes(minutes))));
        enqueue(Order.mail().after(SECOND));

        Claimed claimed = storage()
                .runs()
                .claim(new ClaimRequest(node(), List.of(quota(Order.MAIL, Priority.NORMAL, 3)), Set.of(), null, 0));

        assertThat(claimed.readyAt()).containsExactly(minutesBefore(9), minutesBefore(7), minutesBefore(5));
        assertThat(claimed.attempts()).extracting(a -> a.times().dueAt()).containsExactlyElementsOf(claimed.readyAt());
    }

    private static Instant minutesBefore(int minutes) {
        return StoreBench.NOON.minus(Duration.ofMinutes(minutes));
    }

    @Test
    void takes_a_run_at_the_very_instant_it_is_due_and_not_before() {
        enqueue(Order.mail().after(SECOND));
        UUID node = node();

        advance(SECOND.minusNanos(1_000));
        assertThat(claim(node, 1)).isEmpty();
        advance(Duration.ofNanos(1_000));
        assertThat(claim(node, 1)).hasSize(1);
    }

    @Test
    void looks_no_further_back_than_the_low_water_mark() {
        enqueue(Order.mail().at(minutesBefore(9)));
        RunId later = enqueue(Order.mail().at(minutesBefore(2)));

        ClaimRequest.Quota above = new ClaimRequest.Quota(Order.MAIL, Priority.NORMAL, 5, minutesBefore(2));

        assertThat(claim(node(), above)).extracting(Attempt::run).containsExactly(later);
    }

    @Test
    void hands_over_everything_the_target_needs() {
        RunId id = enqueue(Order.mail().of(Priority.LOW).key("k"));

        Attempt attempt = claim(node(), quota(Order.MAIL, Priority.LOW, 1)).get(0);

        assertThat(attempt)
                .isEqualTo(new Attempt(
                        id,
                        1,
                        Order.MAIL,
                        Priority.LOW,
                        Origin.DIRECT,
                        Target.handler(Order.HANDLER),
                        Order.payload(id),
                        new Attempt.Times(null, StoreBench.NOON),
                        new Attempt.Counts(0, 0, 0),
                        null,
                        attempt.place()));
        Run run = get(id);
        assertThat(run.state()).isEqualTo(RunState.RUNNING);
        assertThat(run.instants().startedAt()).isEqualTo(StoreBench.NOON);
        assertThat(run.attempt()).isEqualTo(1);
    }

    @Test
    void leaves_the_runs_of_strangers() {
        RunId known = enqueue(Order.mail());
        enqueue(Order.mail().to("x"));
        enqueue(Order.mail().to("y"));

        List<Attempt> claimed = storage()
                .runs()
                .claim(new ClaimRequest(
                        node(), List.of(quota(Order.MAIL, Priority.NORMAL, 9)), Set.of("x", "y"), null, 0))
                .attempts();

        assertThat(claimed).extracting(Attempt::run).containsExactly(known);
    }

    @Test
    void gives_nothing_to_a_node_that_is_dead_or_was_never_registered() {
        enqueue(Order.mail());
        UUID dead = node();
        UUID retired = node();
        assertThat(storage().nodes().declareDead(dead, 0, "test")).isTrue();
        storage().nodes().retire(retired);

        assertThat(claim(dead, 1)).isEmpty();
        assertThat(claim(retired, 1)).isEmpty();
        assertThat(claim(UUID.randomUUID(), 1)).isEmpty();
        assertThat(claim(node(), 1)).hasSize(1);
    }

    @Test
    void gives_a_lease_of_its_own_to_whoever_has_no_node() {
        enqueue(Order.mail());

        List<Attempt> leased = lease(UUID.randomUUID(), 1, Duration.ofMinutes(1));

        assertThat(leased).hasSize(1);
        assertThat(claim(node(), 1)).isEmpty();
    }

    @Test
    void a_paused_lane_gives_nothing_and_goes_on_when_resumed() {
        enqueue(Order.mail(), 3);
        UUID node = node();
        storage().lanes().pause(Order.MAIL, "ann", "maintenance");
        enqueue(Order.mail().in(ORDERS));

        assertThat(claim(node, quota(Order.MAIL, Priority.NORMAL, 5), quota(ORDERS, Priority.NORMAL, 5)))
                .extracting(Attempt::lane)
                .containsExactly(ORDERS);
        storage().lanes().resume(Order.MAIL);
        assertThat(claim(node, 5)).hasSize(3);
    }

    @Test
    void no_claim_that_begins_after_pause_returned_gets_anything() {
        enqueue(Order.mail(), 3_000);
        UUID node = node();
        AtomicBoolean paused = new AtomicBoolean();

        Together.run(5, thread -> {
            if (thread == 0) {
                for (int i = 0; i < 20; i++) claim(node, 1);
                bench().another().lanes().pause(Order.MAIL, "ann", null);
                paused.set(true);
                return 0;
            }
            while (true) {
                boolean before = paused.get();
                List<Attempt> got = claim(node, 3);
                // Handed back, so that runs wait however late the pause is.
                storage().runs().handBack(node, got);
                if (!before) continue;
                assertThat(got).isEmpty();
                return 0;
            }
        });

        assertThat(storage().lanes().list(PROJECT).get(0).waiting()).isPositive();
    }

    @Test
    void handing_back_counts_nothing_and_keeps_the_place_in_the_queue() {
        RunId first = enqueue(Order.mail().at(minutesBefore(9)));
        enqueue(Order.mail());
        UUID node = node();
        Attempt attempt = claimOne(node);

        assertThat(storage().runs().handBack(node, List.of(attempt))).isEqualTo(1);

        Run run = get(first);
        assertThat(run.state()).isEqualTo(RunState.WAITING);
        assertThat(List.of(run.failures(), run.crashes())).containsExactly(0, 0);
        assertThat(storage().runDesk().attempts(PROJECT, first)).isEmpty();
        Attempt again = claimOne(node);
        assertThat(again.run()).isEqualTo(first);
        assertThat(again.number()).isEqualTo(2);
    }

    @Test
    void what_is_parked_because_it_runs_long_comes_back_when_handed_back() {
        RunId id = enqueue(Order.mail());
        UUID node = node();
        Attempt attempt = claimOne(node);

        storage().runs().parkRunning(node, List.of(attempt));
        assertThat(get(id).details().parked()).isEqualTo("running");
        storage().runs().handBack(node, List.of(attempt));

        assertThat(get(id).details().parked()).isNull();
        assertThat(claimOne(node).number()).isEqualTo(2);
    }

    @Test
    void passing_on_leaves_a_run_to_a_node_that_knows_its_target_and_parks_it_if_there_is_none() {
        UUID ignorant = node("other.work");
        node("known.work");
        RunId known = enqueue(Order.mail().to("known.work"));
        RunId unknown = enqueue(Order.mail().to("unknown.work"));
        List<Attempt> claimed = claim(ignorant, 2);

        storage().runs().passOn(ignorant, claimed);

        assertThat(get(known).details().parked()).isNull();
        assertThat(get(unknown).details().parked()).isEqualTo("no-handler");
        assertThat(storage().runDesk().strangers()).containsOnlyKeys("unknown.work");
        assertThat(claim(node(), 5)).extracting(Attempt::run).containsExactly(known);
    }

    @Test
    void says_what_a_node_holds_however_much_waits_before_it() {
        UUID node = node();
        enqueue(Order.mail().at(minutesBefore(60)), 25_000);
        enqueue(Order.mail().in(ORDERS), 4);
        Attempt queued = claim(node, quota(ORDERS, Priority.NORMAL, 1)).get(0);
        Attempt parked = claim(node, quota(ORDERS, Priority.NORMAL, 1)).get(0);
        storage().runs().parkRunning(node, List.of(parked));
        claim(node(), quota(ORDERS, Priority.NORMAL, 1));

        assertThat(storage().runs().held(node))
                .containsExactlyInAnyOrder(
                        new HeldRun(PROJECT, queued.run(), 1), new HeldRun(PROJECT, parked.run(), 1));
    }

    @Test
    void hands_back_rows_that_are_held_without_being_known() {
        enqueue(Order.mail(), 3);
        UUID node = node();
        claim(node, 3);

        assertThat(storage().runs().handBackRows(node, storage().runs().held(node)))
                .isEqualTo(3);

        assertThat(storage().runs().held(node)).isEmpty();
        assertThat(claim(node, 5)).hasSize(3);
    }

    @Test
    void a_suspect_that_is_handed_back_stays_a_suspect() {
        RunId id = suspect();
        UUID node = node();
        Attempt probation =
                storage().runs().claimSuspect(node, Set.of(Order.HANDLER)).orElseThrow();

        storage().runs().handBack(node, List.of(probation));

        assertThat(get(id).details().parked()).isEqualTo("suspect");
        assertThat(claim(node, 5)).isEmpty();
        assertThat(storage().runs().claimSuspect(node, Set.of(Order.HANDLER)))
                .hasValueSatisfying(again -> assertThat(again.run()).isEqualTo(id));
    }

    @Test
    void a_suspect_is_claimed_alone_and_only_by_who_knows_its_target() {
        List<RunId> two = List.of(suspect(), suspect());
        UUID node = node();

        assertThat(claim(node, 5)).isEmpty();
        assertThat(storage().runs().claimSuspect(node, Set.of("other"))).isEmpty();
        Set<RunId> claimed = new HashSet<>();
        for (int i = 0; i < 2; i++) {
            Attempt attempt =
                    storage().runs().claimSuspect(node, Set.of(Order.HANDLER)).orElseThrow();
            assertThat(attempt.counts().suspect()).isTrue();
            claimed.add(attempt.run());
        }
        assertThat(claimed).hasSameElementsAs(two);
        assertThat(storage().runs().claimSuspect(node, Set.of(Order.HANDLER))).isEmpty();
    }

    @Test
    void a_suspect_of_a_paused_lane_waits_and_a_dead_node_gets_none() {
        suspect();
        UUID dead = node();
        storage().nodes().retire(dead);
        assertThat(storage().runs().claimSuspect(dead, Set.of(Order.HANDLER))).isEmpty();

        storage().lanes().pause(Order.MAIL, "ann", null);
        assertThat(storage().runs().claimSuspect(node(), Set.of(Order.HANDLER))).isEmpty();
        storage().lanes().resume(Order.MAIL);
        assertThat(storage().runs().claimSuspect(node(), Set.of(Order.HANDLER))).isPresent();
    }

    @Test
    void a_suspect_that_ends_its_attempt_is_none_any_more() {
        RunId id = suspect();
        UUID node = node();
        Attempt attempt =
                storage().runs().claimSuspect(node, Set.of(Order.HANDLER)).orElseThrow();

        assertThat(apply(node, attempt, new Transition.Retry(Duration.ZERO, "oops", false)))
                .isEqualTo(Verdict.ACCEPTED);

        assertThat(get(id).details().parked()).isNull();
        assertThat(claimOne(node).counts().suspect()).isFalse();
    }

    /** A run that waits for isolation. */
    RunId suspect() {
        RunId id = enqueue(Order.mail());
        UUID doomed = node();
        claimOne(doomed);
        diesTwice(doomed);
        return id;
    }

    @Test
    void letting_go_in_many_threads_and_any_order_does_not_deadlock() {
        enqueue(Order.mail(), 400);
        UUID node = node();
        List<Attempt> claimed = new ArrayList<>(claim(node, 400));

        List<Integer> back = Together.run(8, thread -> {
            List<Attempt> mine = new ArrayList<>(claimed);
            if (thread % 2 == 0) mine.sort(Comparator.comparing(Attempt::run).reversed());
            return storage().runs().handBack(node, mine);
        });

        assertThat(back.stream().mapToInt(Integer::intValue).sum()).isEqualTo(400);
    }
}
