package io.carillon.it.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Lane;
import io.carillon.internal.run.NewRun;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.node.Hint;
import io.carillon.internal.store.node.WakeChannel;
import io.carillon.internal.store.run.GateName;
import io.carillon.internal.store.run.GateStore;
import io.carillon.it.fixture.Concurrently;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreContract;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.EnqueueResult;
import io.carillon.run.RedriveResult;
import io.carillon.run.RunId;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Runs that wait behind the gate of their concurrency key or FIFO key. */
abstract class GateStoreContract extends StoreContract {
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final RunSpec TWO = RunSpec.mail().concurrencyKey("shop", 2);
    private static final RunSpec FIFO = RunSpec.mail().fifoKey("account");
    private static final GateName SHOP = new GateName(PROJECT, "concurrency:shop");

    private List<RunId> runs(List<Attempt> attempts) {
        return attempts.stream().map(Attempt::run).toList();
    }

    @Test
    void promotes_up_to_the_limit_and_the_next_run_when_one_ended() {
        List<RunId> ids = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            ids.add(enqueue(TWO));
            advance(SECOND);
        }
        UUID node = node();
        assertThat(claim(node, 9)).as("before the gate was promoted").isEmpty();

        assertThat(passGates()).containsExactly(RunSpec.MAIL);
        List<Attempt> first = claim(node, 9);
        assertThat(runs(first)).containsExactlyInAnyOrderElementsOf(ids.subList(0, 2));
        assertThat(first.get(0).gate()).isEqualTo(SHOP.name());
        assertThat(passGates()).isEmpty();

        apply(node, first.get(0), complete());
        passGates();
        assertThat(runs(claim(node, 9))).containsExactly(ids.get(2));
        apply(node, first.get(1), new Transition.MarkDead("no"));
        passGates();
        assertThat(runs(claim(node, 9))).containsExactly(ids.get(3));
    }

    @Test
    void each_run_is_promoted_under_the_limit_it_was_enqueued_with() {
        enqueue(RunSpec.mail().concurrencyKey("shop", 3), 3);
        advance(SECOND);
        RunId alone = enqueue(RunSpec.mail().concurrencyKey("shop", 1));
        advance(SECOND);
        enqueue(RunSpec.mail().concurrencyKey("shop", 3));
        UUID node = node();
        passGates();
        List<Attempt> held = claim(node, 9);
        assertThat(held).hasSize(3);

        held.subList(0, 2).forEach(attempt -> apply(node, attempt, complete()));
        assertThat(passGates()).as("one run of the key has not ended").isEmpty();
        apply(node, held.get(2), complete());
        passGates();
        assertThat(runs(claim(node, 9))).containsExactly(alone);
    }

    @Test
    void keys_of_other_names_and_projects_and_runs_without_a_key_are_unaffected() {
        enqueue(RunSpec.mail().concurrencyKey("shop", 1), 2);
        enqueue(RunSpec.mail().concurrencyKey("other shop: \"ü\"", 1), 2);
        enqueue(RunSpec.mail().fifoKey("shop"), 2);
        enqueue(RunSpec.mail(), 2);
        enqueue(RunSpec.mail().inLane(new Lane("mail", "elsewhere")).concurrencyKey("shop", 1), 2);
        UUID node = node();

        assertThat(claim(node, 99)).hasSize(2);
        passGates();
        assertThat(claim(node, 99)).hasSize(3);
        assertThat(claim(node, laneClaim(new Lane("mail", "elsewhere"), io.carillon.run.Priority.NORMAL, 9)))
                .hasSize(1);
    }

    @Test
    void a_run_that_waits_for_its_next_attempt_frees_its_concurrency_key() {
        RunId failing = enqueue(RunSpec.mail().concurrencyKey("shop", 1));
        advance(SECOND);
        RunId next = enqueue(RunSpec.mail().concurrencyKey("shop", 1));
        UUID node = node();
        passGates();
        apply(node, claimOne(node), new Transition.Retry(MINUTE, "not now", false));
        passGates();
        Attempt second = claimOne(node);
        assertThat(second.run()).isEqualTo(next);

        advance(MINUTE);
        passGates();
        assertThat(claim(node, 9))
                .as("the retry delay is over, but the key has no free slot")
                .isEmpty();
        apply(node, second, complete());
        passGates();
        assertThat(runs(claim(node, 9))).containsExactly(failing);
    }

    @Test
    void a_fifo_key_waits_for_its_first_run_through_retries_and_crashes() {
        RunId first = enqueue(FIFO);
        RunId second = enqueue(FIFO);
        UUID node = node();
        passGates();
        apply(node, claimOne(node), new Transition.Retry(MINUTE, "not now", false));
        passGates();
        assertThat(claim(node, 9)).isEmpty();
        advance(MINUTE);
        assertThat(claimOne(node).run()).isEqualTo(first);

        storage().nodes().declareDead(node, 0, "test");
        storage().nodes().rescue(3);
        passGates();
        UUID survivor = node();
        Attempt again = claimOne(survivor);
        assertThat(again.run()).isEqualTo(first);
        apply(survivor, again, new Transition.MarkDead("no"));
        passGates();
        assertThat(claimOne(survivor).run()).isEqualTo(second);
    }

    @Test
    void a_quarantined_a_cancelled_and_a_handed_back_run_free_or_keep_their_slot_correctly() {
        List<RunId> ids = new ArrayList<>();
        for (int i = 0; i < 4; i++) ids.add(enqueue(FIFO));
        UUID node = node();
        passGates();
        Attempt held = claimOne(node);
        storage().runs().handBack(node, List.of(held));
        passGates();
        assertThat(claimOne(node).run())
                .as("a run handed back keeps its position")
                .isEqualTo(ids.get(0));

        declareDeadTwice(node);
        UUID second = node();
        assertThat(storage().runs().claimOneIsolated(second, java.util.Set.of(RunSpec.HANDLER)))
                .isPresent();
        storage().nodes().declareDead(second, 0, "test");
        assertThat(storage().nodes().rescue(1).quarantined()).isEqualTo(1);
        storage().runAdmin().cancel(PROJECT, ids.get(1), "enough");
        passGates();
        UUID third = node();
        assertThat(storage().runAdmin().cancel(PROJECT, ids.get(2), "enough"))
                .isInstanceOf(io.carillon.run.CancelResult.Cancelled.class);
        passGates();
        assertThat(claimOne(third).run()).isEqualTo(ids.get(3));
    }

    @Test
    void a_run_that_is_due_later_occupies_no_slot_but_a_fifo_key_waits_for_it() {
        RunId later = enqueue(RunSpec.mail().after(MINUTE).concurrencyKey("shop", 1));
        RunId now = enqueue(RunSpec.mail().concurrencyKey("shop", 1));
        enqueue(FIFO.after(MINUTE));
        enqueue(FIFO);
        UUID node = node();
        passGates();
        Attempt first = claimOne(node);
        assertThat(first.run()).isEqualTo(now);
        apply(node, first, complete());
        passGates();
        assertThat(claim(node, 9)).isEmpty();

        advance(MINUTE.minusSeconds(1));
        GateStore.Arrivals soon = storage().gates().findArrivals(10);
        assertThat(soon.gates()).isEmpty();
        assertThat(soon.next()).isEqualTo(StoreFixture.NOON.plus(MINUTE));
        advance(SECOND);
        passGates();
        assertThat(runs(claim(node, 9))).hasSize(2).contains(later);
        assertThat(storage().gates().findArrivals(10).gates()).isEmpty();
    }

    @Test
    void a_redriven_run_waits_at_its_gate_again() {
        RunId dead = enqueue(FIFO);
        enqueue(FIFO);
        UUID node = node();
        passGates();
        apply(node, claimOne(node), new Transition.MarkDead("no"));
        RedriveResult redriven =
                storage().runAdmin().redrive(PROJECT, List.of(dead)).get(0);
        passGates();
        Attempt second = claimOne(node);
        assertThat(claim(node, 9)).isEmpty();
        apply(node, second, complete());
        passGates();
        assertThat(claimOne(node).run()).isEqualTo(((RedriveResult.Redriven) redriven).run());
    }

    @Test
    void a_unique_key_holds_for_runs_behind_a_gate_and_a_mixed_batch_is_stored_completely() {
        List<NewRun> runs =
                List.of(TWO.key("k").run(), RunSpec.mail().run(), TWO.key("k").run(), FIFO.run());

        List<EnqueueResult> results = storage().newRuns().enqueue(runs);

        assertThat(results.get(2))
                .isEqualTo(new EnqueueResult.Duplicate(results.get(0).run()));
        assertThat(results).filteredOn(EnqueueResult.Enqueued.class::isInstance).hasSize(3);
    }

    @Test
    void nodes_are_notified_of_gates_with_waiting_runs() throws Exception {
        NewRun run = RunSpec.mail().concurrencyKey("a key with spaces", 1).run();
        WakeChannel.Subscription subscription = storage().wake().listen().orElseThrow();
        try (subscription;
                Connection caller = fixture().open()) {
            caller.setAutoCommit(false);
            storage().newRuns().enqueueIn(caller, List.of(run));
            caller.commit();
            assertThat(subscription.await(Duration.ofSeconds(5)))
                    .containsExactly(new Hint.GateWaiting(new GateName(PROJECT, "concurrency:a key with spaces")));
            storage().wake().send(List.of(new Hint.GateWaiting(SHOP)));
            assertThat(subscription.await(Duration.ofSeconds(5))).containsExactly(new Hint.GateWaiting(SHOP));
        }
    }

    @Test
    void a_scan_of_gates_continues_where_it_stopped() {
        for (String key : List.of("a", "b", "c")) enqueue(RunSpec.mail().concurrencyKey(key, 1), 2);
        storage().gates().promote(List.of(new GateName(PROJECT, "concurrency:b")));

        GateStore.OpenGates first = storage().gates().findOpenGates(null, 2);
        GateStore.OpenGates second = storage().gates().findOpenGates(first.last(), 2);

        assertThat(first.gates()).containsExactly(new GateName(PROJECT, "concurrency:a"));
        assertThat(second.gates()).containsExactly(new GateName(PROJECT, "concurrency:c"));
        assertThat(second.last()).isNull();
    }

    private record Stored(RunId id, long begun, long done) {}

    @Test
    void a_fifo_key_keeps_the_order_of_twenty_concurrent_callers() {
        long seed = new Random().nextLong();
        System.out.println("FIFO key seed " + seed);
        List<Stored> stored = Collections.synchronizedList(new ArrayList<>());
        Concurrently.run(20, thread -> {
            Random random = new Random(seed + thread);
            for (int i = 0; i < 5; i++) {
                long begun = System.nanoTime();
                RunId id;
                if (random.nextBoolean()) id = enqueue(FIFO);
                else id = enqueueSlowly(random);
                stored.add(new Stored(id, begun, System.nanoTime()));
            }
            return thread;
        });
        List<RunId> order = new ArrayList<>();
        UUID node = node();
        for (int i = 0; i < 100; i++) {
            passGates();
            Attempt attempt = claimOne(node);
            order.add(attempt.run());
            apply(node, attempt, complete());
        }
        for (Stored one : stored)
            for (Stored other : stored)
                if (one.done() < other.begun())
                    assertThat(order.indexOf(one.id()))
                            .as("seed %d: a run stored before another call began runs earlier", seed)
                            .isLessThan(order.indexOf(other.id()));
    }

    private RunId enqueueSlowly(Random random) throws Exception {
        try (Connection caller = fixture().open()) {
            caller.setAutoCommit(false);
            RunId id = storage()
                    .newRuns()
                    .enqueueIn(caller, List.of(FIFO.run()))
                    .get(0)
                    .run();
            try (var statement = caller.createStatement()) {
                statement.execute("SELECT pg_sleep(" + random.nextInt(5) / 1000.0 + ")");
            }
            caller.commit();
            return id;
        }
    }

    @Test
    void a_run_without_a_handler_occupies_no_slot_and_waits_at_its_gate_again_when_a_node_has_the_handler() {
        RunId unknown = enqueue(RunSpec.mail().withHandler("rare.work").concurrencyKey("shop", 1));
        advance(SECOND);
        RunId next = enqueue(RunSpec.mail().concurrencyKey("shop", 1));
        UUID node = node();
        passGates();
        storage().runs().passOn(node, claim(node, 9));

        assertThat(passGates()).containsExactly(RunSpec.MAIL);
        Attempt held = claimOne(node);
        assertThat(held.run()).isEqualTo(next);
        UUID capable = node("rare.work");
        assertThat(passGates()).as("the key's only slot is taken").isEmpty();
        assertThat(claim(capable, 9)).isEmpty();
        apply(node, held, complete());
        passGates();
        assertThat(runs(claim(capable, 9))).containsExactly(unknown);
    }

    @Test
    void a_rescued_run_whose_node_lacked_its_handler_occupies_no_slot_of_its_key() {
        enqueue(RunSpec.mail().withHandler("rare.work").concurrencyKey("shop", 1));
        advance(SECOND);
        RunId next = enqueue(RunSpec.mail().concurrencyKey("shop", 1));
        UUID node = node();
        passGates();
        assertThat(claim(node, 9)).hasSize(1);

        storage().nodes().declareDead(node, 0, "test");
        storage().nodes().rescue(3);

        passGates();
        assertThat(runs(claim(node(), 9))).containsExactly(next);
    }

    @Test
    void a_fifo_key_waits_for_a_run_without_a_handler() {
        RunId first = enqueue(FIFO.withHandler("rare.work"));
        enqueue(FIFO);
        UUID node = node();
        passGates();
        storage().runs().passOn(node, claim(node, 9));

        assertThat(passGates()).isEmpty();
        assertThat(runs(claim(node("rare.work"), 9))).containsExactly(first);
    }

    @Test
    void an_isolated_run_without_a_handler_occupies_no_slot_until_a_node_has_the_handler() {
        UUID other = node("other.work");
        RunId isolated = enqueue(RunSpec.mail().concurrencyKey("shop", 1));
        advance(SECOND);
        RunId next = enqueue(RunSpec.mail().withHandler("other.work").concurrencyKey("shop", 1));
        UUID node = node();
        passGates();
        assertThat(runs(claim(node, 9))).containsExactly(isolated);
        declareDeadTwice(node);

        passGates();
        Attempt held = claimOne(other);
        assertThat(held.run()).isEqualTo(next);
        UUID successor = node();
        passGates();
        assertThat(storage().runs().claimOneIsolated(successor, java.util.Set.of(RunSpec.HANDLER)))
                .as("the key's only slot is taken")
                .isEmpty();
        apply(other, held, complete());
        passGates();
        assertThat(claim(successor, 9))
                .as("an isolated run is not claimed as an ordinary run")
                .isEmpty();
        assertThat(storage().runs().claimOneIsolated(successor, java.util.Set.of(RunSpec.HANDLER)))
                .map(Attempt::run)
                .contains(isolated);
    }

    @Test
    void concurrent_promoters_promote_no_more_than_the_limit() {
        int runs = 120;
        enqueue(RunSpec.mail().concurrencyKey("shop", 3), runs);
        AtomicInteger live = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        AtomicInteger ended = new AtomicInteger();
        UUID[] nodes = {node(), node(), node(), node(), node(), node()};

        Concurrently.run(nodes.length, thread -> {
            while (ended.get() < runs) {
                storage().gates().promote(List.of(SHOP));
                List<Attempt> claimed = claim(nodes[thread], 2);
                most.accumulateAndGet(live.addAndGet(claimed.size()), Math::max);
                live.addAndGet(-claimed.size());
                for (Attempt attempt : claimed) apply(nodes[thread], attempt, complete());
                ended.addAndGet(claimed.size());
            }
            return thread;
        });

        assertThat(most.get()).isBetween(1, 3);
    }

    @Test
    void explains_why_a_run_waits_at_a_gate() {
        enqueue(TWO, 3);
        advance(SECOND);
        RunId last = enqueue(TWO);
        node();
        passGates();

        assertThat(storage().runAdmin().explain(PROJECT, last).orElseThrow().summary())
                .contains("concurrency key 'shop' allows 2 runs at a time;"
                        + " 2 have passed and not ended, 1 waits before this run");
    }
}
