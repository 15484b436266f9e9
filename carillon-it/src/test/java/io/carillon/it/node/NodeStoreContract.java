package io.carillon.it.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.store.node.HeartbeatResult;
import io.carillon.internal.store.node.NodeView;
import io.carillon.internal.store.node.ProgressUpdate;
import io.carillon.internal.store.node.RescueResult;
import io.carillon.internal.store.run.OwnedRun;
import io.carillon.internal.store.run.WriteResult;
import io.carillon.it.fixture.Concurrently;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreContract;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.AttemptRecord;
import io.carillon.run.Progress;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Heartbeats, declarations of death, rescue of the runs of dead nodes, leases, and progress. */
abstract class NodeStoreContract extends StoreContract {
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private HeartbeatResult heartbeat(UUID node) {
        return storage().nodes().recordHeartbeat(node, 0, List.of());
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
        assertThat(heartbeatResult.rescueDue()).isFalse();
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
        assertThat(heartbeat(node()).rescueDue()).isTrue();

        assertThat(rescue()).isEqualTo(new RescueResult(1, 1, 0));

        Run run = get(id);
        assertThat(run.state()).isEqualTo(RunState.WAITING);
        assertThat(run.details().parked()).isNull();
        assertThat(List.of(run.attempt(), run.failures(), run.crashes())).containsExactly(1, 0, 0);
        assertThat(storage().runAdmin().attempts(PROJECT, id))
                .extracting(AttemptRecord::outcome)
                .containsExactly("crashed");
        assertThat(storage().lanes().readQueueHead(java.time.Instant.MIN).isolatedRunsWaiting())
                .isFalse();
        assertThat(heartbeat(node()).rescueDue()).isFalse();
        assertThat(claimOne(node()).run()).isEqualTo(id);
    }

    @Test
    void a_rescue_does_not_touch_the_runs_of_live_nodes() {
        enqueue(RunSpec.mail(), 3);
        UUID alive = node();
        List<Attempt> held = claim(alive, 3);
        declareDead(node());

        assertThat(rescue()).isEqualTo(new RescueResult(1, 0, 0));

        assertThat(apply(alive, held.get(0), complete())).isEqualTo(WriteResult.ACCEPTED);
    }

    @Test
    void a_rescue_releases_runs_that_are_parked_as_long_running() {
        RunId id = enqueue(RunSpec.mail());
        UUID node = node();
        storage().runs().markLongRunning(node, List.of(claimOne(node)));
        declareDead(node);

        assertThat(rescue().released()).isEqualTo(1);

        assertThat(get(id).details().parked()).isNull();
        assertThat(claimOne(node()).run()).isEqualTo(id);
    }

    @Test
    void a_dead_node_is_rescued_again_a_minute_later_for_claims_that_committed_late() {
        enqueue(RunSpec.mail());
        UUID node = node();
        declareDead(node);
        assertThat(rescue()).isEqualTo(new RescueResult(1, 0, 0));
        assertThat(rescue()).isEqualTo(new RescueResult(0, 0, 0));
        commitLateClaim(node);
        assertThat(heartbeat(node()).rescueDue()).isFalse();

        advance(MINUTE);

        assertThat(heartbeat(node()).rescueDue()).isTrue();
        assertThat(rescue()).isEqualTo(new RescueResult(1, 1, 0));
        advance(MINUTE);
        assertThat(heartbeat(node()).rescueDue()).isFalse();
        assertThat(rescue()).isEqualTo(new RescueResult(0, 0, 0));
    }

    /** Commits a claim of this node although the node is dead. */
    abstract void commitLateClaim(UUID node);

    @Test
    void an_expired_lease_is_rescued_and_a_valid_lease_is_not() {
        RunId id = enqueue(RunSpec.mail());
        UUID owner = UUID.randomUUID();
        Attempt attempt = lease(owner, 1, MINUTE).get(0);
        advance(MINUTE);
        assertThat(rescue()).isEqualTo(new RescueResult(0, 0, 0));

        advance(Duration.ofMillis(1));

        assertThat(heartbeat(node()).rescueDue()).isTrue();
        assertThat(rescue()).isEqualTo(new RescueResult(0, 1, 0));
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

        assertThat(rescue()).isEqualTo(new RescueResult(0, 1, 0));
        assertThat(storage().nodes().renewLeases(owner, held, MINUTE)).isEqualTo(held.subList(1, 2));
        assertThat(storage().nodes().renewLeases(UUID.randomUUID(), held, MINUTE))
                .isEqualTo(held);
    }

    @Test
    void concurrent_rescues_release_each_run_once() {
        enqueue(RunSpec.mail(), 300);
        UUID node = node();
        claim(node, 300);
        declareDead(node);

        List<RescueResult> rescued = Concurrently.run(8, thread -> rescue());

        assertThat(rescued.stream().mapToInt(RescueResult::released).sum()).isEqualTo(300);
        assertThat(storage().runAdmin().list(PROJECT, RunFilter.all()))
                .hasSize(300)
                .allSatisfy(run -> assertThat(run.state()).isEqualTo(RunState.WAITING));
    }

    @Test
    void a_rescue_racing_late_completions_gives_each_run_one_outcome() {
        List<RunId> ids = enqueue(RunSpec.mail(), 200);
        UUID node = node();
        List<Attempt> held = claim(node, 200);
        declareDead(node);

        List<Object> answers = Concurrently.run(
                2,
                thread -> thread == 0
                        ? rescue()
                        : storage()
                                .runs()
                                .apply(
                                        node,
                                        held.stream()
                                                .map(attempt -> ended(attempt, complete()))
                                                .toList()));
        advance(MINUTE);
        RescueResult second = rescue();

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
        assertThat(heartbeat(withoutHandler).rescueDue()).isFalse();

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

        assertThat(rescue()).isEqualTo(new RescueResult(1, 1, 0));
        assertThat(get(id).details().parked()).isEqualTo("no-handler");

        Attempt attempt = claim(node("rare.work"), 1).get(0);
        assertThat(attempt.run()).isEqualTo(id);
        assertThat(attempt.counts().isIsolated()).isFalse();
    }

    @Test
    void a_run_parked_while_the_node_with_its_handler_registered_is_woken_by_the_next_rescue() {
        UUID withoutHandler = node("other.work");
        RunId id = enqueue(RunSpec.mail().withHandler("rare.work"));
        storage().runs().passOn(withoutHandler, claim(withoutHandler, 1));
        registerWithoutWaking("rare.work");

        assertThat(heartbeat(withoutHandler).rescueDue()).isTrue();
        rescue();

        assertThat(get(id).details().parked()).isNull();
        assertThat(heartbeat(withoutHandler).rescueDue()).isFalse();
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
    void the_log_of_a_held_run_is_shown_with_and_without_progress() {
        RunId id = enqueue(RunSpec.mail());
        UUID node = node();
        claimOne(node);

        for (String log : List.of("one\n", "one\ntwo\n"))
            storage().nodes().recordHeartbeat(node, 1, List.of(new ProgressUpdate(PROJECT, id, 1, null, log)));
        assertThat(get(id).details().log()).isEqualTo("one\ntwo\n");
        assertThat(get(id).details().progress()).isNull();

        storage()
                .nodes()
                .recordHeartbeat(
                        node, 1, List.of(new ProgressUpdate(PROJECT, id, 1, new Progress(1, 2), "one\ntwo\n")));
        assertThat(get(id).details().progress()).isEqualTo(new Progress(1, 2));
        assertThat(get(id).details().log()).isEqualTo("one\ntwo\n");
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
