package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempt;
import io.carillon.run.Progress;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.run.Transition;
import io.carillon.store.AttemptRecord;
import io.carillon.store.Beat;
import io.carillon.store.HeldRun;
import io.carillon.store.NodeView;
import io.carillon.store.ProgressNote;
import io.carillon.store.RunStore;
import io.carillon.store.Swept;
import io.carillon.store.Verdict;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Heartbeats, deaths and what becomes of the runs of the dead. */
abstract class NodeStoreContract extends StoreContract {
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private Beat beat(UUID node) {
        return storage().nodes().beat(node, 0, List.of());
    }

    private void kill(UUID node) {
        assertThat(storage().nodes().declareDead(node, beatOf(node), "test")).isTrue();
    }

    private long beatOf(UUID node) {
        return beat(node()).peers().get(node);
    }

    private Swept sweep() {
        return storage().nodes().sweep(3);
    }

    @Test
    void a_beat_tells_the_time_and_the_others_beats() {
        UUID me = node();
        UUID peer = node();
        beat(peer);
        beat(peer);

        Beat beat = beat(me);

        assertThat(beat.alive()).isTrue();
        assertThat(beat.now()).isEqualTo(StoreBench.NOON);
        assertThat(beat.peers()).containsOnlyKeys(peer).containsEntry(peer, 2L);
        assertThat(beat.sweepDue()).isFalse();
    }

    @Test
    void a_node_is_declared_dead_only_while_its_beat_is_the_one_that_was_watched() {
        UUID node = node();
        beat(node);

        assertThat(storage().nodes().declareDead(node, 0, "too late")).isFalse();
        assertThat(beat(node).alive()).isTrue();
        assertThat(storage().nodes().declareDead(node, 2, "silent")).isTrue();
        assertThat(storage().nodes().declareDead(node, 2, "silent")).isFalse();
        assertThat(beat(node).alive()).isFalse();
        assertThat(beat(node()).peers()).doesNotContainKey(node);
        assertThat(storage().nodes().list())
                .filteredOn(view -> view.info().id().equals(node))
                .extracting(NodeView::deadWhy)
                .containsExactly("silent");
    }

    @Test
    void of_many_who_declare_a_node_dead_one_does() {
        UUID node = node();

        List<Boolean> answers = Together.run(8, thread -> storage().nodes().declareDead(node, 0, "test"));

        assertThat(answers.stream().filter(done -> done)).hasSize(1);
    }

    @Test
    void a_beat_against_a_declaration_of_death_leaves_one_winner() {
        for (int round = 0; round < 30; round++) {
            UUID node = node();

            List<Boolean> answers = Together.run(
                    2,
                    thread ->
                            thread == 0 ? beat(node).alive() : storage().nodes().declareDead(node, 0, "test"));

            assertThat(answers.get(0)).isNotEqualTo(answers.get(1));
        }
    }

    @Test
    void an_incarnation_that_registers_again_stays_dead() {
        UUID node = node();
        kill(node);

        storage().nodes().register(storage().nodes().list().get(1).info());

        assertThat(beat(node).alive()).isFalse();
    }

    @Test
    void the_runs_of_a_dead_node_go_back_to_the_ordinary_runs_and_count_no_failure() {
        RunId id = enqueue(Order.mail());
        UUID node = node();
        claimOne(node);
        kill(node);
        assertThat(beat(node()).sweepDue()).isTrue();

        assertThat(sweep()).isEqualTo(new Swept(1, 1, 0));

        Run run = get(id);
        assertThat(run.state()).isEqualTo(RunState.WAITING);
        assertThat(run.details().parked()).isNull();
        assertThat(List.of(run.attempt(), run.failures(), run.crashes())).containsExactly(1, 0, 0);
        assertThat(storage().runDesk().attempts(PROJECT, id))
                .extracting(AttemptRecord::outcome)
                .containsExactly("crashed");
        assertThat(storage().lanes().look(java.time.Instant.MIN).suspects()).isFalse();
        assertThat(beat(node()).sweepDue()).isFalse();
        assertThat(claimOne(node()).run()).isEqualTo(id);
    }

    @Test
    void runs_that_shared_two_deaths_wait_for_isolation() {
        RunId id = enqueue(Order.mail());
        UUID survivor = node();
        UUID node = node();
        claimOne(node);

        diesTwice(node);

        assertThat(get(id).details().parked()).isEqualTo("suspect");
        assertThat(storage().lanes().look(java.time.Instant.MIN).suspects()).isTrue();
        assertThat(claim(survivor, 9)).isEmpty();
    }

    @Test
    void a_suspect_whose_handler_no_node_has_is_told_as_such_and_isolated_when_one_has() {
        RunId id = enqueue(Order.mail());
        UUID node = node();
        claimOne(node);

        diesTwice(node);

        assertThat(get(id).details().parked()).isEqualTo("no-handler");
        assertThat(storage().runDesk().strangers()).containsOnlyKeys(Order.HANDLER);
        assertThat(storage().lanes().look(java.time.Instant.MIN).suspects()).isFalse();
        UUID heir = node();
        assertThat(get(id).details().parked()).isEqualTo("suspect");
        assertThat(claim(heir, 9)).isEmpty();
        assertThat(storage().runs().claimSuspect(heir, java.util.Set.of(Order.HANDLER)))
                .isPresent();
    }

    @Test
    void runs_of_a_node_that_died_soon_after_another_young_one_are_isolated_at_once() {
        List<RunId> ids = enqueue(Order.mail(), 2);
        UUID first = node();
        UUID second = node();
        List.of(first, second).forEach(node -> started(node, "10 s"));
        RunId early = claimOne(first).run();
        kill(first);
        sweep();
        assertThat(get(early).details().parked()).isNull();

        claim(second, 2);
        kill(second);
        sweep();

        assertThat(ids).allSatisfy(id -> assertThat(get(id).details().parked()).isEqualTo("suspect"));
    }

    @Test
    void runs_that_ran_for_long_go_back_plainly_until_they_shared_five_deaths() {
        RunId id = enqueue(Order.mail());
        for (int death = 1; death <= 5; death++) {
            assertThat(get(id).details().parked()).isNull();
            UUID node = node();
            storage().runs().parkRunning(node, List.of(claimOne(node)));
            kill(node);
            sweep();
        }

        assertThat(get(id).details().parked()).isEqualTo("suspect");
    }

    @Test
    void one_node_of_the_cluster_isolates_and_groups_shrink_with_the_deaths() {
        enqueue(Order.mail(), 30);
        UUID node = node();
        claim(node, 30);
        kill(node);
        sweep();
        UUID second = node();
        claim(second, 30);
        kill(second);
        sweep();
        UUID third = node();
        assertThat(isolate(third, 20)).hasSize(20);
        assertThat(isolate(node(), 20)).as("while another node isolates").isEmpty();
        kill(third);
        UUID fourth = node();
        assertThat(isolate(fourth, 50)).as("those that shared fewer deaths").hasSize(10);
        sweep();
        kill(fourth);
        sweep();

        assertThat(isolate(node(), 50)).as("after three deaths").hasSize(10);
    }

    @Test
    void a_node_that_has_ordinary_runs_waits_after_a_death_before_it_isolates_the_most_suspicious() {
        enqueue(Order.mail(), 9);
        UUID first = node();
        claim(first, 9);
        diesTwice(first);
        UUID third = node();
        assertThat(isolate(third, 20)).hasSize(9);
        kill(third);
        sweep();

        advance(Duration.ofSeconds(14));
        assertThat(isolate(node(), 20, true)).isEmpty();
        advance(Duration.ofSeconds(1));
        assertThat(isolate(node(), 20, true)).hasSize(9);
    }

    @Test
    void where_nodes_die_again_and_again_a_trial_is_made_every_five_minutes_all_the_same() {
        enqueue(Order.mail(), 2);
        UUID first = node();
        claim(first, 2);
        diesTwice(first);
        for (int trial = 0; trial < 2; trial++) {
            for (int death = 0; death < 10; death++) {
                assertThat(isolate(node(), 1, true)).isEmpty();
                advance(Duration.ofSeconds(30));
                kill(node());
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
                .claimSuspects(new RunStore.ClaimSuspects(node, Set.of(Order.HANDLER), most, busy, 1, null));
    }

    @Test
    void leaves_the_runs_of_the_living_alone() {
        enqueue(Order.mail(), 3);
        UUID alive = node();
        List<Attempt> held = claim(alive, 3);
        kill(node());

        assertThat(sweep()).isEqualTo(new Swept(1, 0, 0));

        assertThat(apply(alive, held.get(0), complete())).isEqualTo(Verdict.ACCEPTED);
    }

    @Test
    void sweeps_runs_that_are_parked_because_they_run_long() {
        RunId id = enqueue(Order.mail());
        UUID node = node();
        storage().runs().parkRunning(node, List.of(claimOne(node)));
        kill(node);

        assertThat(sweep().released()).isEqualTo(1);

        assertThat(get(id).details().parked()).isNull();
        assertThat(claimOne(node()).run()).isEqualTo(id);
    }

    @Test
    void sweeps_a_dead_node_again_a_minute_later_for_claims_that_committed_late() {
        enqueue(Order.mail());
        UUID node = node();
        kill(node);
        assertThat(sweep()).isEqualTo(new Swept(1, 0, 0));
        assertThat(sweep()).isEqualTo(new Swept(0, 0, 0));
        commitLate(node);
        assertThat(beat(node()).sweepDue()).isFalse();

        advance(MINUTE);

        assertThat(beat(node()).sweepDue()).isTrue();
        assertThat(sweep()).isEqualTo(new Swept(1, 1, 0));
        advance(MINUTE);
        assertThat(beat(node()).sweepDue()).isFalse();
        assertThat(sweep()).isEqualTo(new Swept(0, 0, 0));
    }

    /** A claim of this node takes effect although it is dead. */
    abstract void commitLate(UUID node);

    @Test
    void a_run_that_crashes_its_node_while_alone_three_times_is_quarantined() {
        RunId id = enqueue(Order.mail().key("k"));
        UUID first = node();
        claimOne(first);
        diesTwice(first);
        for (int crash = 1; crash <= 3; crash++) {
            assertThat(get(id).crashes()).isEqualTo(crash - 1);
            UUID next = node();
            Attempt alone = suspect(next).orElseThrow();
            assertThat(alone.counts().crashes()).isEqualTo(crash - 1);
            assertThat(alone.counts().suspicions()).isEqualTo(crash + 1);
            kill(next);
            assertThat(sweep()).isEqualTo(crash < 3 ? new Swept(1, 1, 0) : new Swept(1, 0, 1));
        }

        Run run = get(id);
        assertThat(run.state()).isEqualTo(RunState.QUARANTINED);
        assertThat(List.of(run.attempt(), run.failures(), run.crashes())).containsExactly(5, 0, 3);
        assertThat(run.details().reason()).contains("3 times");
        assertThat(storage().runDesk().dead(PROJECT, RunFilter.all().state(RunState.QUARANTINED)))
                .containsExactly(id);
        assertThat(storage().runDesk().attempts(PROJECT, id)).hasSize(4);
    }

    private Optional<Attempt> suspect(UUID node) {
        return storage().runs().claimSuspect(node, Set.of(Order.HANDLER));
    }

    @Test
    void a_death_while_many_were_held_accuses_nobody() {
        enqueue(Order.mail(), 5);
        for (int death = 0; death < 4; death++) {
            UUID node = node();
            claim(node, 5);
            kill(node);
            sweep();
            for (Optional<Attempt> alone = suspect(node()); alone.isPresent(); alone = suspect(node()))
                apply(owner(alone.get()), alone.get(), new Transition.Snooze(Duration.ZERO));
        }

        assertThat(claim(node(), 9))
                .hasSize(5)
                .allSatisfy(attempt -> assertThat(attempt.counts().crashes()).isZero());
    }

    @Test
    void a_suspect_is_accused_of_a_death_only_if_nobody_else_could_have_caused_it() {
        enqueue(Order.mail());
        UUID first = node();
        RunId id = claimOne(first).run();
        diesTwice(first);
        enqueue(Order.mail(), 2);
        for (int death = 1; death <= 4; death++) {
            UUID busy = node();
            assertThat(suspect(busy)).map(Attempt::run).contains(id);
            List<Attempt> company = claim(busy, 1);
            kill(busy);
            sweep();
            assertThat(get(id).crashes()).as("in company").isZero();
            UUID harmless = node();
            claim(harmless, 9).forEach(attempt -> apply(harmless, attempt, new Transition.Snooze(Duration.ZERO)));
            assertThat(company).hasSize(1);
        }

        UUID proven = node();
        storage().runs().parkRunning(proven, claim(proven, 2));
        assertThat(suspect(proven)).map(Attempt::run).contains(id);
        kill(proven);
        sweep();

        assertThat(get(id).crashes())
                .as("beside runs that had shown that they are harmless")
                .isEqualTo(1);
    }

    private UUID owner(Attempt attempt) {
        return storage().nodes().list().stream()
                .map(view -> view.info().id())
                .filter(id -> storage().runs().held(id).stream()
                        .anyMatch(held -> held.run().equals(attempt.run())))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void a_lease_that_ran_out_is_swept_and_one_that_did_not_is_not() {
        RunId id = enqueue(Order.mail());
        UUID owner = UUID.randomUUID();
        Attempt attempt = lease(owner, 1, MINUTE).get(0);
        advance(MINUTE);
        assertThat(sweep()).isEqualTo(new Swept(0, 0, 0));

        advance(Duration.ofMillis(1));

        assertThat(beat(node()).sweepDue()).isTrue();
        assertThat(sweep()).isEqualTo(new Swept(0, 1, 0));
        assertThat(apply(owner, attempt, complete())).isEqualTo(Verdict.LEASE_LOST);
        assertThat(get(id).details().parked()).isNull();
        assertThat(claimOne(node()).counts().suspect())
                .as("a lease that ends is no crash")
                .isFalse();
    }

    @Test
    void a_lease_that_is_renewed_lives_on_and_one_that_was_lost_is_named() {
        enqueue(Order.mail(), 2);
        UUID owner = UUID.randomUUID();
        List<HeldRun> held = lease(owner, 2, MINUTE).stream()
                .map(attempt -> new HeldRun(PROJECT, attempt.run(), attempt.number()))
                .toList();
        advance(MINUTE.minusMillis(1));
        assertThat(storage().nodes().renew(owner, held.subList(0, 1), MINUTE)).isEmpty();
        advance(MINUTE.minusMillis(1));

        assertThat(sweep()).isEqualTo(new Swept(0, 1, 0));
        assertThat(storage().nodes().renew(owner, held, MINUTE)).isEqualTo(held.subList(1, 2));
        assertThat(storage().nodes().renew(UUID.randomUUID(), held, MINUTE)).isEqualTo(held);
    }

    @Test
    void a_suspect_can_be_leased_without_a_node() {
        enqueue(Order.mail());
        for (int death = 0; death < 2; death++) {
            UUID dead = node();
            claimOne(dead);
            kill(dead);
            sweep();
        }
        UUID owner = UUID.randomUUID();

        Attempt alone = storage()
                .runs()
                .claimSuspect(owner, Set.of(Order.HANDLER), MINUTE)
                .orElseThrow();

        assertThat(apply(owner, alone, complete())).isEqualTo(Verdict.ACCEPTED);
    }

    @Test
    void many_sweeps_at_the_same_time_release_each_run_once() {
        enqueue(Order.mail(), 300);
        UUID node = node();
        claim(node, 300);
        kill(node);

        List<Swept> swept = Together.run(8, thread -> sweep());

        assertThat(swept.stream().mapToInt(Swept::released).sum()).isEqualTo(300);
        assertThat(storage().runDesk().list(PROJECT, RunFilter.all()))
                .hasSize(300)
                .allSatisfy(run -> assertThat(run.state()).isEqualTo(RunState.WAITING));
    }

    @Test
    void a_sweep_against_late_completions_gives_each_run_one_fate() {
        List<RunId> ids = enqueue(Order.mail(), 200);
        UUID node = node();
        List<Attempt> held = claim(node, 200);
        kill(node);

        List<Object> answers = Together.run(
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
        Swept second = sweep();

        List<?> verdicts = (List<?>) answers.get(1);
        long accepted = verdicts.stream().filter(Verdict.ACCEPTED::equals).count();
        int released = ((Swept) answers.get(0)).released() + second.released();
        assertThat(accepted + released).isEqualTo(200);
        assertThat(ids.stream().filter(id -> get(id).state() == RunState.SUCCEEDED))
                .hasSize((int) accepted);
    }

    @Test
    void runs_nobody_knows_are_parked_and_woken_by_a_node_that_does() {
        UUID ignorant = node("other.work");
        RunId id = enqueue(Order.mail().to("rare.work"));
        assertThat(storage().runs().passOn(ignorant, claim(ignorant, 1))).isEmpty();
        assertThat(get(id).details().parked()).isEqualTo("no-handler");
        assertThat(beat(ignorant).sweepDue()).isFalse();

        UUID wise = node("rare.work");

        assertThat(storage().runs().passOn(ignorant, claim(ignorant, 1)))
                .as("what others know")
                .containsExactly("rare.work");
        assertThat(claim(wise, 1)).extracting(Attempt::run).containsExactly(id);
        assertThat(get(id).failures()).isZero();
    }

    @Test
    void a_run_that_its_dead_node_did_not_know_waits_for_one_that_does_and_is_no_suspect() {
        UUID ignorant = node("other.work");
        RunId id = enqueue(Order.mail().to("rare.work"));
        assertThat(claim(ignorant, 1)).hasSize(1);
        kill(ignorant);

        assertThat(sweep()).isEqualTo(new Swept(1, 1, 0));
        assertThat(get(id).details().parked()).isEqualTo("no-handler");

        Attempt attempt = claim(node("rare.work"), 1).get(0);
        assertThat(attempt.run()).isEqualTo(id);
        assertThat(attempt.counts().suspect()).isFalse();
    }

    @Test
    void a_stranger_parked_while_the_node_that_knows_it_registered_is_woken_by_the_next_sweep() {
        UUID ignorant = node("other.work");
        RunId id = enqueue(Order.mail().to("rare.work"));
        storage().runs().passOn(ignorant, claim(ignorant, 1));
        registerWithoutWaking("rare.work");

        assertThat(beat(ignorant).sweepDue()).isTrue();
        sweep();

        assertThat(get(id).details().parked()).isNull();
        assertThat(beat(ignorant).sweepDue()).isFalse();
    }

    /** A node that knows a handler appears, and its wake-up has looked before the stranger was parked. */
    abstract void registerWithoutWaking(String handler);

    @Test
    void progress_of_a_held_run_is_shown() {
        RunId id = enqueue(Order.mail());
        UUID node = node();
        claimOne(node);

        for (long done : List.of(1L, 2L))
            storage().nodes().beat(node, 1, List.of(new ProgressNote(PROJECT, id, 1, new Progress(done, 9))));

        assertThat(get(id).details().progress()).isEqualTo(new Progress(2, 9));
    }

    @Test
    void progress_of_an_attempt_that_another_node_took_over_is_not_written() {
        RunId id = enqueue(Order.mail());
        UUID late = node();
        Attempt first = claimOne(late);
        storage().runs().handBack(late, List.of(first));
        UUID node = node();
        Attempt second = claimOne(node);
        storage().nodes().beat(node, 1, List.of(new ProgressNote(PROJECT, id, second.number(), new Progress(7, 9))));

        for (int attempt : List.of(first.number(), second.number()))
            storage().nodes().beat(late, 1, List.of(new ProgressNote(PROJECT, id, attempt, new Progress(3, 9))));

        assertThat(get(id).details().progress()).isEqualTo(new Progress(7, 9));
    }

    @Test
    void progress_of_an_earlier_attempt_is_not_shown_for_a_later_one() {
        RunId id = enqueue(Order.mail());
        UUID node = node();
        Attempt first = claimOne(node);
        storage().nodes().beat(node, 1, List.of(new ProgressNote(PROJECT, id, first.number(), new Progress(7, 9))));
        storage().runs().handBack(node, List.of(first));
        claimOne(node);

        assertThat(get(id).details().progress()).isNull();
    }

    @Test
    void a_retired_node_is_dead_and_says_that_it_stopped() {
        UUID node = node();
        storage().nodes().retire(node);

        assertThat(beat(node).alive()).isFalse();
        assertThat(storage().nodes().list()).extracting(NodeView::deadWhy).contains("stopped");
    }
}
