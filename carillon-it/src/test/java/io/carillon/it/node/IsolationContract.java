package io.carillon.it.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.node.RescueResult;
import io.carillon.internal.store.run.RunStore;
import io.carillon.internal.store.run.WriteResult;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreContract;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Runs that may have killed their nodes: when they are isolated, claimed alone and quarantined. */
abstract class IsolationContract extends StoreContract {
    private static final Duration MINUTE = Duration.ofMinutes(1);

    @Test
    void runs_whose_node_died_twice_wait_for_isolation() {
        RunId id = enqueue(RunSpec.mail());
        UUID survivor = node();
        UUID node = node();
        claimOne(node);

        declareDeadTwice(node);

        assertThat(get(id).details().parked()).isEqualTo("isolated");
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
        assertThat(get(id).details().parked()).isEqualTo("isolated");
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
        rescue();
        assertThat(get(early).details().parked()).isNull();

        claim(second, 2);
        declareDead(second);
        rescue();

        assertThat(ids).allSatisfy(id -> assertThat(get(id).details().parked()).isEqualTo("isolated"));
    }

    @Test
    void long_running_runs_become_claimable_again_until_their_fifth_node_death() {
        RunId id = enqueue(RunSpec.mail());
        for (int death = 1; death <= 5; death++) {
            assertThat(get(id).details().parked()).isNull();
            UUID node = node();
            storage().runs().markLongRunning(node, List.of(claimOne(node)));
            declareDead(node);
            rescue();
        }

        assertThat(get(id).details().parked()).isEqualTo("isolated");
    }

    @Test
    void one_node_of_the_cluster_executes_isolated_runs_and_groups_shrink_with_each_death() {
        enqueue(RunSpec.mail(), 30);
        UUID node = node();
        claim(node, 30);
        declareDead(node);
        rescue();
        UUID second = node();
        claim(second, 30);
        declareDead(second);
        rescue();
        UUID third = node();
        assertThat(isolate(third, 20)).hasSize(20);
        assertThat(isolate(node(), 20))
                .as("while another node executes isolated runs")
                .isEmpty();
        declareDead(third);
        UUID fourth = node();
        assertThat(isolate(fourth, 50)).as("runs with fewer node deaths").hasSize(10);
        rescue();
        declareDead(fourth);
        rescue();

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
        rescue();

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
    void a_run_whose_node_died_three_times_while_it_ran_alone_is_quarantined() {
        RunId id = enqueue(RunSpec.mail().key("k"));
        UUID first = node();
        claimOne(first);
        declareDeadTwice(first);
        for (int crash = 1; crash <= 3; crash++) {
            assertThat(get(id).crashes()).isEqualTo(crash - 1);
            UUID next = node();
            Attempt alone = isolatedRun(next).orElseThrow();
            assertThat(alone.counts().crashes()).isEqualTo(crash - 1);
            assertThat(alone.counts().nodeDeaths()).isEqualTo(crash + 1);
            declareDead(next);
            assertThat(rescue()).isEqualTo(crash < 3 ? new RescueResult(1, 1, 0) : new RescueResult(1, 0, 1));
        }

        Run run = get(id);
        assertThat(run.state()).isEqualTo(RunState.QUARANTINED);
        assertThat(List.of(run.attempt(), run.failures(), run.crashes())).containsExactly(5, 0, 3);
        assertThat(run.details().reason()).contains("3 times");
        assertThat(storage().runAdmin().dead(PROJECT, RunFilter.all().state(RunState.QUARANTINED)))
                .containsExactly(id);
        assertThat(storage().runAdmin().attempts(PROJECT, id)).hasSize(4);
    }

    private Optional<Attempt> isolatedRun(UUID node) {
        return storage().runs().claimOneIsolated(node, Set.of(RunSpec.HANDLER));
    }

    @Test
    void a_death_of_a_node_with_many_runs_counts_as_a_crash_of_none() {
        enqueue(RunSpec.mail(), 5);
        for (int death = 0; death < 4; death++) {
            UUID node = node();
            claim(node, 5);
            declareDead(node);
            rescue();
            for (Optional<Attempt> alone = isolatedRun(node()); alone.isPresent(); alone = isolatedRun(node()))
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
            assertThat(isolatedRun(busy)).map(Attempt::run).contains(id);
            List<Attempt> company = claim(busy, 1);
            declareDead(busy);
            rescue();
            assertThat(get(id).crashes()).as("beside other runs").isZero();
            UUID harmless = node();
            claim(harmless, 9).forEach(attempt -> apply(harmless, attempt, new Transition.Snooze(Duration.ZERO)));
            assertThat(company).hasSize(1);
        }

        UUID proven = node();
        storage().runs().markLongRunning(proven, claim(proven, 2));
        assertThat(isolatedRun(proven)).map(Attempt::run).contains(id);
        declareDead(proven);
        rescue();

        assertThat(get(id).crashes())
                .as("beside long-running runs, which are not isolated")
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
    void an_isolated_run_can_be_leased_without_a_node() {
        enqueue(RunSpec.mail());
        for (int death = 0; death < 2; death++) {
            UUID dead = node();
            claimOne(dead);
            declareDead(dead);
            rescue();
        }
        UUID owner = UUID.randomUUID();

        Attempt alone = storage()
                .runs()
                .claimOneIsolated(owner, Set.of(RunSpec.HANDLER), MINUTE)
                .orElseThrow();

        assertThat(apply(owner, alone, complete())).isEqualTo(WriteResult.ACCEPTED);
    }
}
