package io.carillon.it.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.store.node.HeartbeatResult;
import io.carillon.internal.store.node.NodeView;
import io.carillon.internal.store.node.ProgressUpdate;
import io.carillon.internal.store.node.RescueResult;
import io.carillon.internal.store.run.OwnedRun;
import io.carillon.internal.store.run.RunStore;
import io.carillon.internal.store.run.WriteResult;
import io.carillon.it.fixture.Concurrently;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreContract;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.internal.run.Attempt;
import io.carillon.run.AttemptRecord;
import io.carillon.run.Progress;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.internal.run.Transition;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Heartbeats, declarations of death, rescue of the runs of dead nodes, isolation and quarantine. */
abstract class NodeStoreContract extends StoreContract {
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private HeartbeatResult heartbeat(UUID node) {
        return storage().nodes().recordHeartbeat(node, 0, List.of());
    }

    private void declareDead(UUID node) {
        assertThat(storage().nodes().declareDead(node, heartbeatCountOf(node), "test"))
                .isTrue();
    }

    private long heartbeatCountOf(UUID node) {
        return heartbeat(node()).peers().get(node);
    }

    private RescueResult sweep() {
        return storage().nodes().sweep(3);
    }

    @Test
    void a_heartbeat_returns_the_time_and_the_counters_of_other_nodes() {
        UUID me = node();
        UUID peer = node();
        heartbeat(peer);
        heartbeat(peer);

        HeartbeatResult heartbeatResult = heartbeat(me);

        assertThat(heartbeatResult.alive()).isTrue();
        assertThat(heartbeatResult.now()).isEqualTo(StoreFixture.NOON);
        assertThat(heartbeatResult.peers()).containsOnlyKeys(peer).containsEntry(peer, 2L);
        assertThat(heartbeatResult.sweepDue()).isFalse();
    }

    @Test
    void a_node_is_declared_dead_only_while_its_counter_is_the_observed_one() {
        UUID node = node();
        heartbeat(node);

        assertThat(storage().nodes().declareDead(node, 0, "too late")).isFalse();
        assertThat(heartbeat(node).alive()).isTrue();
        assertThat(storage().nodes().declareDead(node, 2, "silent")).isTrue();
        assertThat(storage().nodes().declareDead(node, 2, "silent")).isFalse();
        assertThat(heartbeat(node).alive()).isFalse();
        assertThat(heartbeat(node()).peers()).doesNotContainKey(node);
        assertThat(storage().nodes().list())
                .filteredOn(view -> view.info().id().equals(node))
                .extracting(NodeView::deathReason)
                .containsExactly("silent");
    }

    @Test
    void one_of_several_concurrent_declarations_of_death_takes_effect() {
        UUID node = node();

        List<Boolean> answers = Concurrently.run(8, thread -> storage().nodes().declareDead(node, 0, "test"));

        assertThat(answers.stream().filter(done -> done)).hasSize(1);
    }

    @Test
    void a_heartbeat_racing_a_declaration_of_death_leaves_one_winner() {
        for (int round = 0; round < 30; round++) {
            UUID node = node();

            List<Boolean> answers = Concurrently.run(
                    2,
                    thread -> thread == 0
                            ? heartbeat(node).alive()
                            : storage().nodes().declareDead(node, 0, "test"));

            assertThat(answers.get(0)).isNotEqualTo(answers.get(1));
        }
    }

    @Test
    void an_incarnation_that_registers_again_stays_dead() {
        UUID node = node();
        declareDead(node);

        storage().nodes().register(storage().nodes().list().get(1).info());

        assertThat(heartbeat(node).alive()).isFalse();
    }

    @Test
    void the_runs_of_a_dead_node_become_claimable_again_and_count_no_failure() {
        RunId id = enqueue(RunSpec.mail());
        UUID node = node();
        claimOne(node);
        declareDead(node);
        assertThat(heartbeat(node()).sweepDue()).isTrue();

        assertThat(sweep()).isEqualTo(new RescueResult(1, 1, 0));

        Run run = get(id);
        assertThat(run.state()).isEqualTo(RunState.WAITING);
        assertThat(run.details().parked()).isNull();
        assertThat(List.of(run.attempt(), run.failures(), run.crashes())).containsExactly(1, 0, 0);
        assertThat(storage().runAdmin().attempts(PROJECT, id))
                .extracting(AttemptRecord::outcome)
                .containsExactly("crashed");
        assertThat(storage().lanes().readQueueHead(java.time.Instant.MIN).isolatedRunsWaiting())
                .isFalse();
        assertThat(heartbeat(node()).sweepDue()).isFalse();
        assertThat(claimOne(node()).run()).isEqualTo(id);
    }

    @Test
    void runs_whose_node_died_twice_wait_for_isolation() {
        RunId id = enqueue(RunSpec.mail());
        UUID survivor = node();
        UUID node = node();
        claimOne(node);

        declareDeadTwice(node);

        assertThat(get(id).details().parked()).isEqualTo("suspect");
        assertThat(storage().lanes().readQueueHead(java.time.Instant.MIN).isolatedRunsWaiting())
                .isTrue();
        assertThat(claim(survivor, 9)).isEmpty();
    }

    @Test
    void an_isolated_run_without_a_handler_is_reported_and_isolated_when_a_node_has_the_handler() {
        RunId id = enqueue(RunSpec.mail());
        UUID node = node();
        claimOne(node);

        declareDeadTwice(node);

        assertThat(get(id).details().parked()).isEqualTo("no-handler");
        assertThat(storage().runAdmin().unknownHandlers()).containsOnlyKeys(RunSpec.HANDLER);
        assertThat(storage().lanes().readQueueHead(java.time.Instant.MIN).isolatedRunsWaiting())
                .isFalse();
        UUID successor = node();
        assertThat(get(id).details().parked()).isEqualTo("suspect");
        assertThat(claim(successor, 9)).isEmpty();
        assertThat(storage().runs().claimOneIsolated(successor, java.util.Set.of(RunSpec.HANDLER)))
                .isPresent();
    }

    @Test
    void runs_of_a_node_that_died_soon_after_its_start_and_another_death_are_isolated_immediately() {
        List<RunId> ids = enqueue(RunSpec.mail(), 2);
        UUID first = node();
        UUID second = node();
        List.of(first, second).forEach(node -> setStartedAgo(node, "10 s"));
        RunId early = claimOne(first).run();
        declareDead(first);
        sweep();
        assertThat(get(early).details().parked()).isNull();

        claim(second, 2);
        declareDead(second);
        sweep();

        assertThat(ids).allSatisfy(id -> assertThat(get(id).details().parked()).isEqualTo("suspect"));
    }

    @Test
    void long_running_runs_become_claimable_again_until_their_fifth_node_death() {
        RunId id = enqueue(RunSpec.mail());
        for (int death = 1; death <= 5; death++) {
            assertThat(get(id).details().parked()).isNull();
            UUID node = node();
            storage().runs().markLongRunning(node, List.of(claimOne(node)));
            declareDead(node);
            sweep();
        }

        assertThat(get(id).details().parked()).isEqualTo("suspect");
    }

    @Test
    void one_node_of_the_cluster_executes_isolated_runs_and_groups_shrink_with_each_death() {
        enqueue(RunSpec.mail(), 30);
        UUID node = node();
        claim(node, 30);
        declareDead(node);
        sweep();
        UUID second = node();
        claim(second, 30);
        declareDead(second);
        sweep();
        UUID third = node();
        assertThat(isolate(third, 20)).hasSize(20);
        assertThat(isolate(node(), 20))
                .as("while another node executes isolated runs")
                .isEmpty();
        declareDead(third);
        UUID fourth = node();
        assertThat(isolate(fourth, 50)).as("runs with fewer node deaths").hasSize(10);
        sweep();
        declareDead(fourth);
        sweep();

        assertThat(isolate(node(), 50)).as("runs with three node deaths").hasSize(10);
    }

    @Test
    void a_busy_node_waits_after_a_death_before_it_claims_isolated_runs() {
        enqueue(RunSpec.mail(), 9);
        UUID first = node();
        claim(first, 9);
        declareDeadTwice(first);
        UUID third = node();
        assertThat(isolate(third, 20)).hasSize(9);
        declareDead(third);
        sweep();

        advance(Duration.ofSeconds(14));
        assertThat(isolate(node(), 20, true)).isEmpty();
        advance(Duration.ofSeconds(1));
        assertThat(isolate(node(), 20, true)).hasSize(9);
    }

    @Test
    void isolated_runs_are_tried_every_five_minutes_while_nodes_keep_dying() {
        enqueue(RunSpec.mail(), 2);
        UUID first = node();
        claim(first, 2);
        declareDeadTwice(first);
        for (int trial = 0; trial < 2; trial++) {
            for (int death = 0; death < 10; death++) {
                assertThat(isolate(node(), 1, true)).isEmpty();
                advance(Duration.ofSeconds(30));
                declareDead(node());
            }
            UUID node = node();
            List<Attempt> tried = isolate(node, 1, true);
            assertThat(tried).hasSize(1);
            storage().runs().handBack(node, tried);
        }
    }

    private List<Attempt> isolate(UUID node, int most) {
        return isolate(node, most, false);
    }

    private List<Attempt> isolate(UUID node, int most, boolean busy) {
        return storage()
                .runs()
                .claimIsolated(new RunStore.IsolatedClaimRequest(node, Set.of(RunSpec.HANDLER), most, busy, 1, null));
    }

    @Test
    void a_sweep_does_not_touch_the_runs_of_live_nodes() {
        enqueue(RunSpec.mail(), 3);
        UUID alive = node();
        List<Attempt> held = claim(alive, 3);
        declareDead(node());

        assertThat(sweep()).isEqualTo(new RescueResult(1, 0, 0));

        assertThat(apply(alive, held.get(0), complete())).isEqualTo(WriteResult.ACCEPTED);
    }

    @Test
    void a_sweep_releases_runs_that_are_parked_as_long_running() {
        RunId id = enqueue(RunSpec.mail());
        UUID node = node();
        storage().runs().markLongRunning(node, List.of(claimOne(node)));
        declareDead(node);

        assertThat(sweep().released()).isEqualTo(1);

        assertThat(get(id).details().parked()).isNull();
        assertThat(claimOne(node()).run()).isEqualTo(id);
    }

    @Test
    void a_dead_node_is_swept_again_a_minute_later_for_claims_that_committed_late() {
        enqueue(RunSpec.mail());
        UUID node = node();
        declareDead(node);
        assertThat(sweep()).isEqualTo(new RescueResult(1, 0, 0));
        assertThat(sweep()).isEqualTo(new RescueResult(0, 0, 0));
        commitLateClaim(node);
        assertThat(heartbeat(node()).sweepDue()).isFalse();

        advance(MINUTE);

        assertThat(heartbeat(node()).sweepDue()).isTrue();
        assertThat(sweep()).isEqualTo(new RescueResult(1, 1, 0));
        advance(MINUTE);
        assertThat(heartbeat(node()).sweepDue()).isFalse();
        assertThat(sweep()).isEqualTo(new RescueResult(0, 0, 0));
    }

    /** Commits a claim of this node although the node is dead. */
    abstract void commitLateClaim(UUID node);

    @Test
    void a_run_whose_node_died_three_times_while_it_ran_alone_is_quarantined() {
        RunId id = enqueue(RunSpec.mail().key("k"));
        UUID first = node();
        claimOne(first);
        declareDeadTwice(first);
        for (int crash = 1; crash <= 3; crash++) {
            assertThat(get(id).crashes()).isEqualTo(crash - 1);
            UUID next = node();
            Attempt alone = suspect(next).orElseThrow();
            assertThat(alone.counts().crashes()).isEqualTo(crash - 1);
            assertThat(alone.counts().nodeDeaths()).isEqualTo(crash + 1);
            declareDead(next);
            assertThat(sweep()).isEqualTo(crash < 3 ? new RescueResult(1, 1, 0) : new RescueResult(1, 0, 1));
        }

        Run run = get(id);
        assertThat(run.state()).isEqualTo(RunState.QUARANTINED);
        assertThat(List.of(run.attempt(), run.failures(), run.crashes())).containsExactly(5, 0, 3);
        assertThat(run.details().reason()).contains("3 times");
        assertThat(storage().runAdmin().dead(PROJECT, RunFilter.all().state(RunState.QUARANTINED)))
                .containsExactly(id);
        assertThat(storage().runAdmin().attempts(PROJECT, id)).hasSize(4);
    }

    private Optional<Attempt> suspect(UUID node) {
        return storage().runs().claimOneIsolated(node, Set.of(RunSpec.HANDLER));
    }

    @Test
    void a_death_of_a_node_with_many_runs_counts_as_a_crash_of_none() {
        enqueue(RunSpec.mail(), 5);
        for (int death = 0; death < 4; death++) {
            UUID node = node();
            claim(node, 5);
            declareDead(node);
            sweep();
            for (Optional<Attempt> alone = suspect(node()); alone.isPresent(); alone = suspect(node()))
                apply(owner(alone.get()), alone.get(), new Transition.Snooze(Duration.ZERO));
        }

        assertThat(claim(node(), 9))
                .hasSize(5)
                .allSatisfy(attempt -> assertThat(attempt.counts().crashes()).isZero());
    }

    @Test
    void an_isolated_run_counts_a_crash_only_if_it_ran_alone() {
        enqueue(RunSpec.mail());
        UUID first = node();
        RunId id = claimOne(first).run();
        declareDeadTwice(first);
        enqueue(RunSpec.mail(), 2);
        for (int death = 1; death <= 4; death++) {
            UUID busy = node();
            assertThat(suspect(busy)).map(Attempt::run).contains(id);
            List<Attempt> company = claim(busy, 1);
            declareDead(busy);
            sweep();
            assertThat(get(id).crashes()).as("beside other runs").isZero();
            UUID harmless = node();
            claim(harmless, 9).forEach(attempt -> apply(harmless, attempt, new Transition.Snooze(Duration.ZERO)));
            assertThat(company).hasSize(1);
        }

        UUID proven = node();
        storage().runs().markLongRunning(proven, claim(proven, 2));
        assertThat(suspect(proven)).map(Attempt::run).contains(id);
        declareDead(proven);
        sweep();

        assertThat(get(id).crashes())
                .as("beside long-running runs, which are not suspected")
                .isEqualTo(1);
    }

    private UUID owner(Attempt attempt) {
        return storage().nodes().list().stream()
                .map(view -> view.info().id())
                .filter(id -> storage().runs().ownedRuns(id).stream()
                        .anyMatch(held -> held.run().equals(attempt.run())))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void an_expired_lease_is_swept_and_a_valid_lease_is_not() {
        RunId id = enqueue(RunSpec.mail());
        UUID owner = UUID.randomUUID();
        Attempt attempt = lease(owner, 1, MINUTE).get(0);
        advance(MINUTE);
        assertThat(sweep()).isEqualTo(new RescueResult(0, 0, 0));

        advance(Duration.ofMillis(1));

        assertThat(heartbeat(node()).sweepDue()).isTrue();
        assertThat(sweep()).isEqualTo(new RescueResult(0, 1, 0));
        assertThat(apply(owner, attempt, complete())).isEqualTo(WriteResult.LEASE_LOST);
        assertThat(get(id).details().parked()).isNull();
        assertThat(claimOne(node()).counts().isIsolated())
                .as("an expired lease is not a crash")
                .isFalse();
    }

    @Test
    void a_renewed_lease_stays_valid_and_a_lost_lease_is_reported() {
        enqueue(RunSpec.mail(), 2);
        UUID owner = UUID.randomUUID();
        List<OwnedRun> held = lease(owner, 2, MINUTE).stream()
                .map(attempt -> new OwnedRun(PROJECT, attempt.run(), attempt.number()))
                .toList();
        advance(MINUTE.minusMillis(1));
        assertThat(storage().nodes().renewLeases(owner, held.subList(0, 1), MINUTE))
                .isEmpty();
        advance(MINUTE.minusMillis(1));

        assertThat(sweep()).isEqualTo(new RescueResult(0, 1, 0));
        assertThat(storage().nodes().renewLeases(owner, held, MINUTE)).isEqualTo(held.subList(1, 2));
        assertThat(storage().nodes().renewLeases(UUID.randomUUID(), held, MINUTE))
                .isEqualTo(held);
    }

    @Test
    void an_isolated_run_can_be_leased_without_a_node() {
        enqueue(RunSpec.mail());
        for (int death = 0; death < 2; death++) {
            UUID dead = node();
            claimOne(dead);
            declareDead(dead);
            sweep();
        }
        UUID owner = UUID.randomUUID();

        Attempt alone = storage()
                .runs()
                .claimOneIsolated(owner, Set.of(RunSpec.HANDLER), MINUTE)
                .orElseThrow();

        assertThat(apply(owner, alone, complete())).isEqualTo(WriteResult.ACCEPTED);
    }

    @Test
    void concurrent_sweeps_release_each_run_once() {
        enqueue(RunSpec.mail(), 300);
        UUID node = node();
        claim(node, 300);
        declareDead(node);

        List<RescueResult> swept = Concurrently.run(8, thread -> sweep());

        assertThat(swept.stream().mapToInt(RescueResult::released).sum()).isEqualTo(300);
        assertThat(storage().runAdmin().list(PROJECT, RunFilter.all()))
                .hasSize(300)
                .allSatisfy(run -> assertThat(run.state()).isEqualTo(RunState.WAITING));
    }

    @Test
    void a_sweep_racing_late_completions_gives_each_run_one_outcome() {
        List<RunId> ids = enqueue(RunSpec.mail(), 200);
        UUID node = node();
        List<Attempt> held = claim(node, 200);
        declareDead(node);

        List<Object> answers = Concurrently.run(
                2,
                thread -> thread == 0
                        ? sweep()
                        : storage()
                                .runs()
                                .apply(
                                        node,
                                        held.stream()
                                                .map(attempt -> ended(attempt, complete()))
                                                .toList()));
        advance(MINUTE);
        RescueResult second = sweep();

        List<?> verdicts = (List<?>) answers.get(1);
        long accepted = verdicts.stream().filter(WriteResult.ACCEPTED::equals).count();
        int released = ((RescueResult) answers.get(0)).released() + second.released();
        assertThat(accepted + released).isEqualTo(200);
        assertThat(ids.stream().filter(id -> get(id).state() == RunState.SUCCEEDED))
                .hasSize((int) accepted);
    }

    @Test
    void runs_of_unknown_handlers_are_parked_and_woken_by_a_node_that_has_them() {
        UUID withoutHandler = node("other.work");
        RunId id = enqueue(RunSpec.mail().withHandler("rare.work"));
        assertThat(storage().runs().passOn(withoutHandler, claim(withoutHandler, 1)))
                .isEmpty();
        assertThat(get(id).details().parked()).isEqualTo("no-handler");
        assertThat(heartbeat(withoutHandler).sweepDue()).isFalse();

        UUID capableNode = node("rare.work");

        assertThat(storage().runs().passOn(withoutHandler, claim(withoutHandler, 1)))
                .as("handlers that other nodes have")
                .containsExactly("rare.work");
        assertThat(claim(capableNode, 1)).extracting(Attempt::run).containsExactly(id);
        assertThat(get(id).failures()).isZero();
    }

    @Test
    void a_run_whose_dead_node_lacked_its_handler_waits_for_a_node_with_it_and_is_not_isolated() {
        UUID withoutHandler = node("other.work");
        RunId id = enqueue(RunSpec.mail().withHandler("rare.work"));
        assertThat(claim(withoutHandler, 1)).hasSize(1);
        declareDead(withoutHandler);

        assertThat(sweep()).isEqualTo(new RescueResult(1, 1, 0));
        assertThat(get(id).details().parked()).isEqualTo("no-handler");

        Attempt attempt = claim(node("rare.work"), 1).get(0);
        assertThat(attempt.run()).isEqualTo(id);
        assertThat(attempt.counts().isIsolated()).isFalse();
    }

    @Test
    void a_run_parked_while_the_node_with_its_handler_registered_is_woken_by_the_next_sweep() {
        UUID withoutHandler = node("other.work");
        RunId id = enqueue(RunSpec.mail().withHandler("rare.work"));
        storage().runs().passOn(withoutHandler, claim(withoutHandler, 1));
        registerWithoutWaking("rare.work");

        assertThat(heartbeat(withoutHandler).sweepDue()).isTrue();
        sweep();

        assertThat(get(id).details().parked()).isNull();
        assertThat(heartbeat(withoutHandler).sweepDue()).isFalse();
    }

    /** Registers a node that has the handler, whose wake-up of parked runs ran before the run was parked. */
    abstract void registerWithoutWaking(String handler);

    @Test
    void progress_of_a_held_run_is_shown() {
        RunId id = enqueue(RunSpec.mail());
        UUID node = node();
        claimOne(node);

        for (long done : List.of(1L, 2L))
            storage()
                    .nodes()
                    .recordHeartbeat(node, 1, List.of(new ProgressUpdate(PROJECT, id, 1, new Progress(done, 9))));

        assertThat(get(id).details().progress()).isEqualTo(new Progress(2, 9));
    }

    @Test
    void progress_of_an_attempt_that_another_node_took_over_is_not_written() {
        RunId id = enqueue(RunSpec.mail());
        UUID late = node();
        Attempt first = claimOne(late);
        storage().runs().handBack(late, List.of(first));
        UUID node = node();
        Attempt second = claimOne(node);
        storage()
                .nodes()
                .recordHeartbeat(
                        node, 1, List.of(new ProgressUpdate(PROJECT, id, second.number(), new Progress(7, 9))));

        for (int attempt : List.of(first.number(), second.number()))
            storage()
                    .nodes()
                    .recordHeartbeat(late, 1, List.of(new ProgressUpdate(PROJECT, id, attempt, new Progress(3, 9))));

        assertThat(get(id).details().progress()).isEqualTo(new Progress(7, 9));
    }

    @Test
    void progress_of_an_earlier_attempt_is_not_shown_for_a_later_one() {
        RunId id = enqueue(RunSpec.mail());
        UUID node = node();
        Attempt first = claimOne(node);
        storage()
                .nodes()
                .recordHeartbeat(node, 1, List.of(new ProgressUpdate(PROJECT, id, first.number(), new Progress(7, 9))));
        storage().runs().handBack(node, List.of(first));
        claimOne(node);

        assertThat(get(id).details().progress()).isNull();
    }

    @Test
    void a_retired_node_is_dead_with_the_reason_stopped() {
        UUID node = node();
        storage().nodes().retire(node);

        assertThat(heartbeat(node).alive()).isFalse();
        assertThat(storage().nodes().list()).extracting(NodeView::deathReason).contains("stopped");
    }
}
