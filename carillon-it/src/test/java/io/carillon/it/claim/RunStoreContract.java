package io.carillon.it.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Lane;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.run.ClaimRequest;
import io.carillon.internal.store.run.ClaimResult;
import io.carillon.internal.store.run.OwnedRun;
import io.carillon.internal.store.run.WriteResult;
import io.carillon.it.fixture.Concurrently;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreContract;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.Origin;
import io.carillon.run.Priority;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.run.Target;
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

/** Claiming runs, and releasing them without ending them. */
abstract class RunStoreContract extends StoreContract {
    private static final Lane ORDERS = new Lane("orders", "default");
    private static final Lane FOREIGN = new Lane("mail", "other");

    @ParameterizedTest
    @ValueSource(ints = {2, 8})
    void concurrent_claimers_never_get_the_same_run(int claimers) {
        List<RunId> stored = enqueue(RunSpec.mail(), 2_000);
        UUID node = node();

        List<List<Attempt>> taken = Concurrently.run(claimers, thread -> claimAll(node, 37));

        List<RunId> claimed = taken.stream()
                .flatMap(List::stream)
                .peek(attempt -> assertThat(attempt.number()).isEqualTo(1))
                .map(Attempt::run)
                .toList();
        assertThat(claimed).doesNotHaveDuplicates().hasSameElementsAs(stored);
    }

    /**
     * Claims until the queue head is empty. An empty claim does not suffice, because other claimers may hold the locks.
     */
    private List<Attempt> claimAll(UUID node, int count) {
        List<Attempt> all = new ArrayList<>();
        while (!storage().lanes().readQueueHead(Instant.MIN).lanes().isEmpty()) all.addAll(claim(node, count));
        return all;
    }

    @Test
    void claims_no_more_than_the_requested_number_of_each_lane_and_priority() {
        for (Lane lane : List.of(RunSpec.MAIL, ORDERS, FOREIGN))
            for (Priority priority : Priority.values())
                enqueue(RunSpec.mail().inLane(lane).withPriority(priority), 5);

        List<Attempt> claimed = claim(
                node(),
                laneClaim(RunSpec.MAIL, Priority.HIGH, 3),
                laneClaim(RunSpec.MAIL, Priority.BULK, 1),
                laneClaim(ORDERS, Priority.NORMAL, 9),
                laneClaim(FOREIGN, Priority.LOW, 2));

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
    void claims_the_earliest_ready_runs_and_returns_their_ready_times() {
        for (int minutes : List.of(7, 2, 9, 4, 5))
            enqueue(RunSpec.mail().at(StoreFixture.NOON.minus(Duration.ofMinutes(minutes))));
        enqueue(RunSpec.mail().after(SECOND));

        ClaimResult claimResult = storage()
                .runs()
                .claim(new ClaimRequest(
                        node(), List.of(laneClaim(RunSpec.MAIL, Priority.NORMAL, 3)), Set.of(), null, 0));

        assertThat(claimResult.readyAt()).containsExactly(minutesBefore(9), minutesBefore(7), minutesBefore(5));
        assertThat(claimResult.attempts())
                .extracting(a -> a.times().dueAt())
                .containsExactlyElementsOf(claimResult.readyAt());
    }

    private static Instant minutesBefore(int minutes) {
        return StoreFixture.NOON.minus(Duration.ofMinutes(minutes));
    }

    @Test
    void claims_a_run_at_its_due_time_and_not_before() {
        enqueue(RunSpec.mail().after(SECOND));
        UUID node = node();

        advance(SECOND.minusNanos(1_000));
        assertThat(claim(node, 1)).isEmpty();
        advance(Duration.ofNanos(1_000));
        assertThat(claim(node, 1)).hasSize(1);
    }

    @Test
    void claims_no_runs_before_the_low_water_mark() {
        enqueue(RunSpec.mail().at(minutesBefore(9)));
        RunId later = enqueue(RunSpec.mail().at(minutesBefore(2)));

        ClaimRequest.LaneClaim above = new ClaimRequest.LaneClaim(RunSpec.MAIL, Priority.NORMAL, 5, minutesBefore(2));

        assertThat(claim(node(), above)).extracting(Attempt::run).containsExactly(later);
    }

    @Test
    void an_attempt_has_all_values_of_its_run() {
        RunId id = enqueue(RunSpec.mail().withPriority(Priority.LOW).key("k"));

        Attempt attempt =
                claim(node(), laneClaim(RunSpec.MAIL, Priority.LOW, 1)).get(0);

        assertThat(attempt)
                .isEqualTo(new Attempt(
                        id,
                        1,
                        RunSpec.MAIL,
                        Priority.LOW,
                        Origin.DIRECT,
                        Target.handler(RunSpec.HANDLER),
                        RunSpec.payload(id),
                        new Attempt.Times(null, StoreFixture.NOON),
                        new Attempt.Counts(0, 0, 0),
                        null,
                        attempt.rowLocation()));
        Run run = get(id);
        assertThat(run.state()).isEqualTo(RunState.RUNNING);
        assertThat(run.instants().startedAt()).isEqualTo(StoreFixture.NOON);
        assertThat(run.attempt()).isEqualTo(1);
    }

    @Test
    void a_run_keeps_its_policy_through_a_hand_back_a_retry_and_the_death_of_its_node() {
        Run.Policy policy = new Run.Policy(Retry.none().jitter(0.5), Duration.ofSeconds(7));
        RunId id = RunId.generate();
        storage().newRuns().enqueue(List.of(RunSpec.mail().run(id).withPolicy(policy)));
        UUID first = node();
        Attempt claimed = claimOne(first);
        storage().runs().handBack(first, List.of(claimed));
        Attempt again = claimOne(first);
        apply(first, again, new Transition.Retry(Duration.ZERO, "no route", false));
        Attempt third = claimOne(first);
        declareDead(first);
        rescue();
        Attempt fourth = claimOne(node());

        assertThat(List.of(claimed, again, third, fourth))
                .extracting(Attempt::policy)
                .containsOnly(policy);
        assertThat(fourth.number()).isEqualTo(4);
        assertThat(get(id).details().policy()).isEqualTo(policy);
    }

    @Test
    void does_not_claim_runs_of_unknown_handlers() {
        RunId known = enqueue(RunSpec.mail());
        enqueue(RunSpec.mail().withHandler("x"));
        enqueue(RunSpec.mail().withHandler("y"));

        List<Attempt> claimed = storage()
                .runs()
                .claim(new ClaimRequest(
                        node(), List.of(laneClaim(RunSpec.MAIL, Priority.NORMAL, 9)), Set.of("x", "y"), null, 0))
                .attempts();

        assertThat(claimed).extracting(Attempt::run).containsExactly(known);
    }

    @Test
    void a_dead_or_unregistered_node_claims_nothing() {
        enqueue(RunSpec.mail());
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
    void a_process_without_a_node_gets_a_lease_per_run() {
        enqueue(RunSpec.mail());

        List<Attempt> leased = lease(UUID.randomUUID(), 1, Duration.ofMinutes(1));

        assertThat(leased).hasSize(1);
        assertThat(claim(node(), 1)).isEmpty();
    }

    @Test
    void no_runs_are_claimed_from_a_paused_lane_until_it_is_resumed() {
        enqueue(RunSpec.mail(), 3);
        UUID node = node();
        storage().lanes().pause(RunSpec.MAIL, "ann", "maintenance");
        enqueue(RunSpec.mail().inLane(ORDERS));

        assertThat(claim(node, laneClaim(RunSpec.MAIL, Priority.NORMAL, 5), laneClaim(ORDERS, Priority.NORMAL, 5)))
                .extracting(Attempt::lane)
                .containsExactly(ORDERS);
        storage().lanes().resume(RunSpec.MAIL);
        assertThat(claim(node, 5)).hasSize(3);
    }

    @Test
    void a_claim_that_begins_after_pause_returned_gets_no_runs() {
        enqueue(RunSpec.mail(), 3_000);
        UUID node = node();
        AtomicBoolean paused = new AtomicBoolean();

        Concurrently.run(5, thread -> {
            if (thread == 0) {
                for (int i = 0; i < 20; i++) claim(node, 1);
                fixture().secondStorage().lanes().pause(RunSpec.MAIL, "ann", null);
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

        assertThat(storage().lanes().list(PROJECT).get(0).counts().waiting()).isPositive();
    }

    @Test
    void handing_back_counts_no_failure_and_keeps_the_position_in_the_queue() {
        RunId first = enqueue(RunSpec.mail().at(minutesBefore(9)));
        enqueue(RunSpec.mail());
        UUID node = node();
        Attempt attempt = claimOne(node);

        assertThat(storage().runs().handBack(node, List.of(attempt))).isEqualTo(1);

        Run run = get(first);
        assertThat(run.state()).isEqualTo(RunState.WAITING);
        assertThat(List.of(run.failures(), run.crashes())).containsExactly(0, 0);
        assertThat(storage().runAdmin().attempts(PROJECT, first)).isEmpty();
        Attempt again = claimOne(node);
        assertThat(again.run()).isEqualTo(first);
        assertThat(again.number()).isEqualTo(2);
    }

    @Test
    void a_run_parked_as_long_running_becomes_claimable_when_handed_back() {
        RunId id = enqueue(RunSpec.mail());
        UUID node = node();
        Attempt attempt = claimOne(node);

        storage().runs().markLongRunning(node, List.of(attempt));
        assertThat(get(id).details().parked()).isEqualTo("running");
        storage().runs().handBack(node, List.of(attempt));

        assertThat(get(id).details().parked()).isNull();
        assertThat(claimOne(node).number()).isEqualTo(2);
    }

    @Test
    void passing_on_releases_a_run_whose_handler_another_node_has_and_parks_it_otherwise() {
        UUID withoutHandler = node("other.work");
        node("known.work");
        RunId known = enqueue(RunSpec.mail().withHandler("known.work"));
        RunId unknown = enqueue(RunSpec.mail().withHandler("unknown.work"));
        List<Attempt> claimed = claim(withoutHandler, 2);

        storage().runs().passOn(withoutHandler, claimed);

        assertThat(get(known).details().parked()).isNull();
        assertThat(get(unknown).details().parked()).isEqualTo("no-handler");
        assertThat(storage().runAdmin().unknownHandlers()).containsOnlyKeys("unknown.work");
        assertThat(claim(node(), 5)).extracting(Attempt::run).containsExactly(known);
    }

    @Test
    void lists_the_runs_of_a_node_behind_a_large_backlog() {
        UUID node = node();
        enqueue(RunSpec.mail().at(minutesBefore(60)), 25_000);
        enqueue(RunSpec.mail().inLane(ORDERS), 4);
        Attempt queued = claim(node, laneClaim(ORDERS, Priority.NORMAL, 1)).get(0);
        Attempt parked = claim(node, laneClaim(ORDERS, Priority.NORMAL, 1)).get(0);
        storage().runs().markLongRunning(node, List.of(parked));
        claim(node(), laneClaim(ORDERS, Priority.NORMAL, 1));

        assertThat(storage().runs().ownedRuns(node))
                .containsExactlyInAnyOrder(
                        new OwnedRun(PROJECT, queued.run(), 1), new OwnedRun(PROJECT, parked.run(), 1));
    }

    @Test
    void hands_back_claimed_rows_by_their_ids() {
        enqueue(RunSpec.mail(), 3);
        UUID node = node();
        claim(node, 3);

        assertThat(storage().runs().handBackRows(node, storage().runs().ownedRuns(node)))
                .isEqualTo(3);

        assertThat(storage().runs().ownedRuns(node)).isEmpty();
        assertThat(claim(node, 5)).hasSize(3);
    }

    @Test
    void an_isolated_run_that_is_handed_back_stays_isolated() {
        RunId id = isolatedRun();
        UUID node = node();
        Attempt isolated =
                storage().runs().claimOneIsolated(node, Set.of(RunSpec.HANDLER)).orElseThrow();

        storage().runs().handBack(node, List.of(isolated));

        assertThat(get(id).details().parked()).isEqualTo("isolated");
        assertThat(claim(node, 5)).isEmpty();
        assertThat(storage().runs().claimOneIsolated(node, Set.of(RunSpec.HANDLER)))
                .hasValueSatisfying(again -> assertThat(again.run()).isEqualTo(id));
    }

    @Test
    void an_isolated_run_is_claimed_separately_and_only_by_a_node_with_its_handler() {
        List<RunId> two = List.of(isolatedRun(), isolatedRun());
        UUID node = node();

        assertThat(claim(node, 5)).isEmpty();
        assertThat(storage().runs().claimOneIsolated(node, Set.of("other"))).isEmpty();
        Set<RunId> claimed = new HashSet<>();
        for (int i = 0; i < 2; i++) {
            Attempt attempt = storage()
                    .runs()
                    .claimOneIsolated(node, Set.of(RunSpec.HANDLER))
                    .orElseThrow();
            assertThat(attempt.counts().isIsolated()).isTrue();
            claimed.add(attempt.run());
        }
        assertThat(claimed).hasSameElementsAs(two);
        assertThat(storage().runs().claimOneIsolated(node, Set.of(RunSpec.HANDLER)))
                .isEmpty();
    }

    @Test
    void an_isolated_run_of_a_paused_lane_waits_and_a_dead_node_gets_none() {
        isolatedRun();
        UUID dead = node();
        storage().nodes().retire(dead);
        assertThat(storage().runs().claimOneIsolated(dead, Set.of(RunSpec.HANDLER)))
                .isEmpty();

        storage().lanes().pause(RunSpec.MAIL, "ann", null);
        assertThat(storage().runs().claimOneIsolated(node(), Set.of(RunSpec.HANDLER)))
                .isEmpty();
        storage().lanes().resume(RunSpec.MAIL);
        assertThat(storage().runs().claimOneIsolated(node(), Set.of(RunSpec.HANDLER)))
                .isPresent();
    }

    @Test
    void a_run_that_ends_its_attempt_is_no_longer_isolated() {
        RunId id = isolatedRun();
        UUID node = node();
        Attempt attempt =
                storage().runs().claimOneIsolated(node, Set.of(RunSpec.HANDLER)).orElseThrow();

        assertThat(apply(node, attempt, new Transition.Retry(Duration.ZERO, "oops", false)))
                .isEqualTo(WriteResult.ACCEPTED);

        assertThat(get(id).details().parked()).isNull();
        assertThat(claimOne(node).counts().isIsolated()).isFalse();
    }

    /** Returns a run that waits for isolation. */
    RunId isolatedRun() {
        RunId id = enqueue(RunSpec.mail());
        UUID doomed = node();
        claimOne(doomed);
        declareDeadTwice(doomed);
        return id;
    }

    @Test
    void concurrent_hand_backs_in_any_order_do_not_deadlock() {
        enqueue(RunSpec.mail(), 400);
        UUID node = node();
        List<Attempt> claimed = new ArrayList<>(claim(node, 400));

        List<Integer> back = Concurrently.run(8, thread -> {
            List<Attempt> mine = new ArrayList<>(claimed);
            if (thread % 2 == 0) mine.sort(Comparator.comparing(Attempt::run).reversed());
            return storage().runs().handBack(node, mine);
        });

        assertThat(back.stream().mapToInt(Integer::intValue).sum()).isEqualTo(400);
    }
}
