package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempt;
import io.carillon.run.EnqueueResult;
import io.carillon.run.Lane;
import io.carillon.run.NewRun;
import io.carillon.run.Redrive;
import io.carillon.run.RunId;
import io.carillon.run.Transition;
import io.carillon.store.GateName;
import io.carillon.store.GateStore;
import io.carillon.store.Signal;
import io.carillon.store.WakeChannel;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What every storage does about runs that wait behind a gate of their key. */
abstract class GateStoreContract extends StoreContract {
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Order TWO = Order.mail().concurrencyKey("shop", 2);
    private static final Order STRICT = Order.mail().fifoKey("account");
    private static final GateName SHOP = new GateName(PROJECT, "concurrency:shop");

    private List<RunId> runs(List<Attempt> attempts) {
        return attempts.stream().map(Attempt::run).toList();
    }

    @Test
    void lets_as_many_through_as_the_limit_says_and_the_next_when_one_ended() {
        List<RunId> ids = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            ids.add(enqueue(TWO));
            advance(SECOND);
        }
        UUID node = node();
        assertThat(claim(node, 9)).as("before anybody opened the gate").isEmpty();

        assertThat(passGates()).containsExactly(Order.MAIL);
        List<Attempt> first = claim(node, 9);
        assertThat(runs(first)).containsExactlyInAnyOrderElementsOf(ids.subList(0, 2));
        assertThat(first.get(0).gate()).isEqualTo(SHOP.name());
        assertThat(passGates()).isEmpty();

        apply(node, first.get(0), complete());
        passGates();
        assertThat(runs(claim(node, 9))).containsExactly(ids.get(2));
        apply(node, first.get(1), new Transition.Die("no"));
        passGates();
        assertThat(runs(claim(node, 9))).containsExactly(ids.get(3));
    }

    @Test
    void each_run_brings_the_limit_under_which_it_passes() {
        enqueue(Order.mail().concurrencyKey("shop", 3), 3);
        advance(SECOND);
        RunId alone = enqueue(Order.mail().concurrencyKey("shop", 1));
        advance(SECOND);
        enqueue(Order.mail().concurrencyKey("shop", 3));
        UUID node = node();
        passGates();
        List<Attempt> held = claim(node, 9);
        assertThat(held).hasSize(3);

        held.subList(0, 2).forEach(attempt -> apply(node, attempt, complete()));
        assertThat(passGates()).as("one is still there").isEmpty();
        apply(node, held.get(2), complete());
        passGates();
        assertThat(runs(claim(node, 9))).containsExactly(alone);
    }

    @Test
    void keys_of_other_names_and_projects_and_runs_without_one_do_not_care() {
        enqueue(Order.mail().concurrencyKey("shop", 1), 2);
        enqueue(Order.mail().concurrencyKey("other shop: \"ü\"", 1), 2);
        enqueue(Order.mail().fifoKey("shop"), 2);
        enqueue(Order.mail(), 2);
        enqueue(Order.mail().in(new Lane("mail", "elsewhere")).concurrencyKey("shop", 1), 2);
        UUID node = node();

        assertThat(claim(node, 99)).hasSize(2);
        passGates();
        assertThat(claim(node, 99)).hasSize(3);
        assertThat(claim(node, quota(new Lane("mail", "elsewhere"), io.carillon.run.Priority.NORMAL, 9)))
                .hasSize(1);
    }

    @Test
    void by_a_concurrency_key_a_run_that_waits_for_its_next_attempt_makes_room() {
        RunId failing = enqueue(Order.mail().concurrencyKey("shop", 1));
        advance(SECOND);
        RunId next = enqueue(Order.mail().concurrencyKey("shop", 1));
        UUID node = node();
        passGates();
        apply(node, claimOne(node), new Transition.Retry(MINUTE, "not now", false));
        passGates();
        Attempt second = claimOne(node);
        assertThat(second.run()).isEqualTo(next);

        advance(MINUTE);
        passGates();
        assertThat(claim(node, 9)).as("its pause is over, but the gate is shut").isEmpty();
        apply(node, second, complete());
        passGates();
        assertThat(runs(claim(node, 9))).containsExactly(failing);
    }

    @Test
    void a_strict_line_waits_for_its_first_through_retries_and_crashes() {
        RunId first = enqueue(STRICT);
        RunId second = enqueue(STRICT);
        UUID node = node();
        passGates();
        apply(node, claimOne(node), new Transition.Retry(MINUTE, "not now", false));
        passGates();
        assertThat(claim(node, 9)).isEmpty();
        advance(MINUTE);
        assertThat(claimOne(node).run()).isEqualTo(first);

        storage().nodes().declareDead(node, 0, "test");
        storage().nodes().sweep(3);
        passGates();
        UUID survivor = node();
        Attempt again = claimOne(survivor);
        assertThat(again.run()).isEqualTo(first);
        apply(survivor, again, new Transition.Die("no"));
        passGates();
        assertThat(claimOne(survivor).run()).isEqualTo(second);
    }

    @Test
    void a_quarantined_a_cancelled_and_a_handed_back_run_leave_the_gate_as_it_should_be() {
        List<RunId> ids = new ArrayList<>();
        for (int i = 0; i < 4; i++) ids.add(enqueue(STRICT));
        UUID node = node();
        passGates();
        Attempt held = claimOne(node);
        storage().runs().handBack(node, List.of(held));
        passGates();
        assertThat(claimOne(node).run()).as("a run handed back keeps its turn").isEqualTo(ids.get(0));

        diesTwice(node);
        UUID second = node();
        assertThat(storage().runs().claimSuspect(second, java.util.Set.of(Order.HANDLER)))
                .isPresent();
        storage().nodes().declareDead(second, 0, "test");
        assertThat(storage().nodes().sweep(1).quarantined()).isEqualTo(1);
        storage().runDesk().cancel(PROJECT, ids.get(1), "enough");
        passGates();
        UUID third = node();
        assertThat(storage().runDesk().cancel(PROJECT, ids.get(2), "enough"))
                .isInstanceOf(io.carillon.run.Cancellation.Cancelled.class);
        passGates();
        assertThat(claimOne(third).run()).isEqualTo(ids.get(3));
    }

    @Test
    void a_run_that_is_due_later_takes_no_place_before_but_a_strict_line_waits_for_it() {
        RunId later = enqueue(Order.mail().after(MINUTE).concurrencyKey("shop", 1));
        RunId now = enqueue(Order.mail().concurrencyKey("shop", 1));
        enqueue(STRICT.after(MINUTE));
        enqueue(STRICT);
        UUID node = node();
        passGates();
        Attempt first = claimOne(node);
        assertThat(first.run()).isEqualTo(now);
        apply(node, first, complete());
        passGates();
        assertThat(claim(node, 9)).isEmpty();

        advance(MINUTE.minusSeconds(1));
        GateStore.Arrivals soon = storage().gates().arrive(10);
        assertThat(soon.gates()).isEmpty();
        assertThat(soon.next()).isEqualTo(StoreBench.NOON.plus(MINUTE));
        advance(SECOND);
        passGates();
        assertThat(runs(claim(node, 9))).hasSize(2).contains(later);
        assertThat(storage().gates().arrive(10).gates()).isEmpty();
    }

    @Test
    void a_redriven_run_gets_in_line_again() {
        RunId dead = enqueue(STRICT);
        enqueue(STRICT);
        UUID node = node();
        passGates();
        apply(node, claimOne(node), new Transition.Die("no"));
        Redrive redriven = storage().runDesk().redrive(PROJECT, List.of(dead)).get(0);
        passGates();
        Attempt second = claimOne(node);
        assertThat(claim(node, 9)).isEmpty();
        apply(node, second, complete());
        passGates();
        assertThat(claimOne(node).run()).isEqualTo(((Redrive.Redriven) redriven).run());
    }

    @Test
    void a_uniqueness_key_holds_before_the_gate_too_and_a_mixed_batch_is_stored_whole() {
        List<NewRun> runs =
                List.of(TWO.key("k").run(), Order.mail().run(), TWO.key("k").run(), STRICT.run());

        List<EnqueueResult> results = storage().inbox().enqueue(runs);

        assertThat(results.get(2))
                .isEqualTo(new EnqueueResult.AlreadyThere(results.get(0).run()));
        assertThat(results).filteredOn(EnqueueResult.Enqueued.class::isInstance).hasSize(3);
    }

    @Test
    void the_nodes_are_told_at_which_gate_somebody_waits() throws Exception {
        NewRun run = Order.mail().concurrencyKey("a key with spaces", 1).run();
        WakeChannel.Ear ear = storage().wake().listen().orElseThrow();
        try (ear;
                Connection caller = bench().open()) {
            caller.setAutoCommit(false);
            storage().inbox().enqueueIn(caller, List.of(run));
            caller.commit();
            assertThat(ear.await(Duration.ofSeconds(5)))
                    .containsExactly(new Signal.Knock(new GateName(PROJECT, "concurrency:a key with spaces")));
            storage().wake().send(List.of(new Signal.Knock(SHOP)));
            assertThat(ear.await(Duration.ofSeconds(5))).containsExactly(new Signal.Knock(SHOP));
        }
    }

    @Test
    void whoever_looks_from_gate_to_gate_goes_on_where_it_stopped() {
        for (String key : List.of("a", "b", "c")) enqueue(Order.mail().concurrencyKey(key, 1), 2);
        storage().gates().pass(List.of(new GateName(PROJECT, "concurrency:b")));

        GateStore.Opened first = storage().gates().open(null, 2);
        GateStore.Opened second = storage().gates().open(first.last(), 2);

        assertThat(first.gates()).containsExactly(new GateName(PROJECT, "concurrency:a"));
        assertThat(second.gates()).containsExactly(new GateName(PROJECT, "concurrency:c"));
        assertThat(second.last()).isNull();
    }

    private record Stored(RunId id, long begun, long done) {}

    @Test
    void a_strict_line_keeps_the_order_of_twenty_who_enqueue_at_once() {
        long seed = new Random().nextLong();
        System.out.println("seed " + seed);
        List<Stored> stored = Collections.synchronizedList(new ArrayList<>());
        Together.run(20, thread -> {
            Random random = new Random(seed + thread);
            for (int i = 0; i < 5; i++) {
                long begun = System.nanoTime();
                RunId id;
                if (random.nextBoolean()) id = enqueue(STRICT);
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
                            .as("seed %d: was stored before the other began", seed)
                            .isLessThan(order.indexOf(other.id()));
    }

    private RunId enqueueSlowly(Random random) throws Exception {
        try (Connection caller = bench().open()) {
            caller.setAutoCommit(false);
            RunId id = storage()
                    .inbox()
                    .enqueueIn(caller, List.of(STRICT.run()))
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
    void a_run_without_a_handler_holds_no_place_of_its_key_and_gets_in_line_again_when_there_is_one() {
        RunId unknown = enqueue(Order.mail().to("rare.work").concurrencyKey("shop", 1));
        advance(SECOND);
        RunId next = enqueue(Order.mail().concurrencyKey("shop", 1));
        UUID node = node();
        passGates();
        storage().runs().passOn(node, claim(node, 9));

        assertThat(passGates()).containsExactly(Order.MAIL);
        Attempt held = claimOne(node);
        assertThat(held.run()).isEqualTo(next);
        UUID wise = node("rare.work");
        assertThat(passGates()).as("the key's only place is taken").isEmpty();
        assertThat(claim(wise, 9)).isEmpty();
        apply(node, held, complete());
        passGates();
        assertThat(runs(claim(wise, 9))).containsExactly(unknown);
    }

    @Test
    void a_run_that_died_with_a_node_which_did_not_know_its_handler_holds_no_place_of_its_key() {
        enqueue(Order.mail().to("rare.work").concurrencyKey("shop", 1));
        advance(SECOND);
        RunId next = enqueue(Order.mail().concurrencyKey("shop", 1));
        UUID node = node();
        passGates();
        assertThat(claim(node, 9)).hasSize(1);

        storage().nodes().declareDead(node, 0, "test");
        storage().nodes().sweep(3);

        passGates();
        assertThat(runs(claim(node(), 9))).containsExactly(next);
    }

    @Test
    void a_strict_line_waits_for_a_run_without_a_handler() {
        RunId first = enqueue(STRICT.to("rare.work"));
        enqueue(STRICT);
        UUID node = node();
        passGates();
        storage().runs().passOn(node, claim(node, 9));

        assertThat(passGates()).isEmpty();
        assertThat(runs(claim(node("rare.work"), 9))).containsExactly(first);
    }

    @Test
    void a_suspect_whose_handler_no_node_has_holds_no_place_of_its_key_and_is_isolated_when_there_is_one() {
        UUID other = node("other.work");
        RunId suspect = enqueue(Order.mail().concurrencyKey("shop", 1));
        advance(SECOND);
        RunId next = enqueue(Order.mail().to("other.work").concurrencyKey("shop", 1));
        UUID node = node();
        passGates();
        assertThat(runs(claim(node, 9))).containsExactly(suspect);
        diesTwice(node);

        passGates();
        Attempt held = claimOne(other);
        assertThat(held.run()).isEqualTo(next);
        UUID heir = node();
        passGates();
        assertThat(storage().runs().claimSuspect(heir, java.util.Set.of(Order.HANDLER)))
                .as("the key's only place is taken")
                .isEmpty();
        apply(other, held, complete());
        passGates();
        assertThat(claim(heir, 9)).as("it is no ordinary run").isEmpty();
        assertThat(storage().runs().claimSuspect(heir, java.util.Set.of(Order.HANDLER)))
                .map(Attempt::run)
                .contains(suspect);
    }

    @Test
    void many_gatekeepers_let_no_more_through_than_the_limit() {
        int runs = 120;
        enqueue(Order.mail().concurrencyKey("shop", 3), runs);
        AtomicInteger live = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        AtomicInteger ended = new AtomicInteger();
        UUID[] nodes = {node(), node(), node(), node(), node(), node()};

        Together.run(nodes.length, thread -> {
            while (ended.get() < runs) {
                storage().gates().pass(List.of(SHOP));
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
    void says_why_a_run_waits_before_a_gate() {
        enqueue(TWO, 3);
        advance(SECOND);
        RunId last = enqueue(TWO);
        node();
        passGates();

        assertThat(storage().runDesk().explain(PROJECT, last).orElseThrow().summary())
                .contains(
                        "concurrency key 'shop' lets 2 through at a time; 2 of them have not ended, and 1 wait before it");
    }
}
