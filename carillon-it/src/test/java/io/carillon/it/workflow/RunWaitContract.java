package io.carillon.it.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Lane;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.run.GateName;
import io.carillon.internal.store.run.RunWaitStore.Position;
import io.carillon.internal.store.run.RunWaitStore.Resolution;
import io.carillon.internal.store.run.RunWaitStore.RunKey;
import io.carillon.internal.store.run.RunWaitStore.Scan;
import io.carillon.it.fixture.Concurrently;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreContract;
import io.carillon.run.Enqueue.OnFailure;
import io.carillon.run.RedriveResult;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Runs that wait for other runs: what becomes of them, and that no order of two commits loses a wake-up. */
abstract class RunWaitContract extends StoreContract {
    private static final Transition DIE = new Transition.MarkDead("no");

    @Test
    void a_run_starts_after_the_awaited_run_has_succeeded() {
        UUID node = node();
        Attempt first = claimed(node, RunSpec.mail());
        RunId second = enqueue(RunSpec.mail().afterRuns(OnFailure.CANCEL, first.run()));

        assertThat(resolve(second).lanes()).isEmpty();
        assertThat(claim(node, 9)).isEmpty();

        end(node, first, complete());
        assertThat(awaited(first.run()).lanes()).containsExactly(RunSpec.MAIL);
        assertThat(claimOne(node).run()).isEqualTo(second);
        assertThat(awaited(first.run())).isEqualTo(new Resolution(List.of(), List.of(), List.of(), List.of()));
    }

    @Test
    void a_run_is_cancelled_if_the_awaited_run_did_not_succeed() {
        UUID node = node();
        Attempt first = claimed(node, RunSpec.mail());
        RunId second = enqueue(RunSpec.mail().afterRuns(OnFailure.CANCEL, first.run()));
        RunId third = enqueue(RunSpec.mail().afterRuns(OnFailure.CANCEL, second));
        end(node, first, DIE);

        assertThat(awaited(first.run()).cancelled()).containsExactly(key(second));
        assertThat(awaited(second).cancelled()).containsExactly(key(third));

        Run ended = get(second);
        assertThat(ended.state()).isEqualTo(RunState.CANCELLED);
        assertThat(ended.details().reason()).isEqualTo("the awaited run " + first.run() + " ended dead");
        assertThat(get(third).details().reason()).isEqualTo("the awaited run " + second + " ended cancelled");
        assertNoWaits();
    }

    @Test
    void a_run_can_start_after_any_end() {
        UUID node = node();
        for (Transition end : List.of(complete(), DIE, new Transition.Cancel("enough"))) {
            Attempt first = claimed(node, RunSpec.mail());
            RunId second = enqueue(RunSpec.mail().afterRuns(OnFailure.RUN_ANYWAY, first.run()));
            end(node, first, end);

            awaited(first.run());

            Attempt started = claimOne(node);
            assertThat(started.run()).isEqualTo(second);
            end(node, started, complete());
        }
    }

    @Test
    void a_run_can_wait_until_the_dead_run_was_redriven_and_has_succeeded() {
        UUID node = node();
        Attempt first = claimed(node, RunSpec.mail());
        RunId second = enqueue(RunSpec.mail().afterRuns(OnFailure.WAIT, first.run()));
        end(node, first, DIE);
        assertThat(awaited(first.run()).cancelled()).isEmpty();

        RunId redriven = redrive(first.run());
        resolve(second);
        Attempt again = claimOne(node);
        assertThat(again.run()).isEqualTo(redriven);
        end(node, again, DIE);
        assertThat(awaited(redriven).lanes()).isEmpty();

        RunId twice = redrive(redriven);
        end(node, claimOne(node), complete());

        // The hint about the new run does not find the wait, which names the dead one; the scan does.
        awaited(twice);
        scanAll();
        assertThat(claimOne(node).run()).isEqualTo(second);
    }

    @Test
    void a_run_that_waits_for_a_redrive_is_cancelled_when_there_can_be_none() {
        UUID node = node();
        Attempt first = claimed(node, RunSpec.mail());
        RunId second = enqueue(RunSpec.mail().afterRuns(OnFailure.WAIT, first.run()));
        end(node, first, DIE);
        storage().maintenance().purge(java.time.Duration.ZERO, java.time.Duration.ZERO);
        advance(SECOND);
        storage().maintenance().purge(java.time.Duration.ZERO, java.time.Duration.ZERO);

        scanAll();

        assertThat(get(second).state()).isEqualTo(RunState.CANCELLED);
    }

    @Test
    void runs_that_ended_before_or_are_gone_answer_at_once() {
        UUID node = node();
        Attempt first = claimed(node, RunSpec.mail());
        end(node, first, complete());
        RunId gone = RunId.generate();
        RunId after = enqueue(RunSpec.mail().afterRuns(OnFailure.CANCEL, first.run()));
        RunId cancelled = enqueue(RunSpec.mail().afterRuns(OnFailure.CANCEL, gone));
        RunId anyway = enqueue(RunSpec.mail().afterRuns(OnFailure.RUN_ANYWAY, gone));

        resolve(after, cancelled, anyway);

        assertThat(claim(node, 9)).extracting(Attempt::run).containsExactlyInAnyOrder(after, anyway);
        assertThat(get(cancelled).details().reason())
                .isEqualTo("the awaited run " + gone + " does not exist or has left the history");
    }

    @Test
    void a_run_waits_for_all_of_its_awaited_runs() {
        UUID node = node();
        List<Attempt> all = new ArrayList<>();
        for (int i = 0; i < 3; i++) all.add(claimed(node, RunSpec.mail()));
        RunId last = enqueue(RunSpec.mail()
                .afterRuns(OnFailure.CANCEL, all.stream().map(Attempt::run).toArray(RunId[]::new)));
        for (Attempt one : all) {
            assertThat(claim(node, 9)).isEmpty();
            end(node, one, complete());
            awaited(one.run());
        }
        assertThat(claimOne(node).run()).isEqualTo(last);
        assertNoWaits();
    }

    @Test
    void a_run_with_a_key_takes_its_place_when_it_no_longer_waits() {
        UUID node = node();
        Attempt first = claimed(node, RunSpec.mail());
        RunSpec fifo = RunSpec.mail().fifoKey("shop");
        RunId waiting = enqueue(fifo.afterRuns(OnFailure.CANCEL, first.run()));
        GateName gate = new GateName(PROJECT, "fifo:shop");
        RunId later = enqueue(fifo);
        passGates();
        Attempt running = claimOne(node);
        assertThat(running.run()).isEqualTo(later);

        end(node, first, complete());
        assertThat(awaited(first.run()).gates()).containsExactly(gate);
        passGates();
        assertThat(claim(node, 9)).isEmpty();
        end(node, running, complete());
        passGates();
        assertThat(claimOne(node).run()).isEqualTo(waiting);
    }

    @Test
    void a_waiting_run_can_be_cancelled_and_its_waits_are_removed() {
        RunId first = enqueue(RunSpec.mail());
        RunId second = enqueue(RunSpec.mail().afterRuns(OnFailure.CANCEL, first));

        storage().runAdmin().cancel(PROJECT, second, "enough");
        scanAll();

        assertThat(get(second).details().reason()).isEqualTo("enough");
        assertNoWaits();
    }

    @Test
    void a_scan_finds_what_a_crash_after_the_commit_left() {
        UUID node = node();
        List<RunId> second = new ArrayList<>();
        for (int i = 0; i < 25; i++) {
            Attempt first = claimed(node, RunSpec.mail());
            second.add(enqueue(RunSpec.mail().afterRuns(OnFailure.CANCEL, first.run())));
            RunId other = enqueue(RunSpec.mail().inLane(new Lane("other", PROJECT)));
            enqueue(RunSpec.mail().afterRuns(OnFailure.CANCEL, other));
            end(node, first, complete());
        }

        assertThat(scanAll())
                .containsExactlyInAnyOrderElementsOf(
                        second.stream().map(this::key).toList());

        assertThat(claim(node, 99)).extracting(Attempt::run).containsExactlyInAnyOrderElementsOf(second);
    }

    @Test
    void storing_a_wait_while_the_awaited_run_ends_loses_no_wake_up() {
        UUID node = node();
        for (int i = 0; i < 150; i++) {
            Attempt first = claimed(node, RunSpec.mail());
            RunSpec waiting = RunSpec.mail().afterRuns(OnFailure.CANCEL, first.run());

            both(() -> endAndLook(node, first), () -> resolve(enqueue(waiting)));

            end(node, claimOne(node), complete());
        }
    }

    @Test
    void the_last_two_endings_of_a_fan_in_lose_no_wake_up() {
        UUID node = node();
        for (int i = 0; i < 150; i++) {
            Attempt one = claimed(node, RunSpec.mail());
            Attempt other = claimed(node, RunSpec.mail());
            RunId last = enqueue(RunSpec.mail().afterRuns(OnFailure.CANCEL, one.run(), other.run()));

            both(() -> endAndLook(node, one), () -> endAndLook(node, other));

            Attempt started = claimOne(node);
            assertThat(started.run()).isEqualTo(last);
            end(node, started, complete());
        }
    }

    private void endAndLook(UUID node, Attempt attempt) {
        end(node, attempt, complete());
        resolveAll(storage().runWaits().resolveAwaited(List.of(key(attempt.run()))));
    }

    private static void both(Runnable one, Runnable other) {
        Concurrently.run(2, thread -> {
            (thread == 0 ? one : other).run();
            return thread;
        });
    }

    private Attempt claimed(UUID node, RunSpec spec) {
        enqueue(spec);
        return claimOne(node);
    }

    private void end(UUID node, Attempt attempt, Transition transition) {
        apply(node, attempt, transition);
    }

    private RunId redrive(RunId dead) {
        return ((RedriveResult.Redriven)
                        storage().runAdmin().redrive(PROJECT, List.of(dead)).get(0))
                .run();
    }

    private RunKey key(RunId run) {
        return new RunKey(PROJECT, run);
    }

    private Resolution awaited(RunId ended) {
        return storage().runWaits().resolveAwaited(List.of(key(ended)));
    }

    private Resolution resolve(RunId... waiting) {
        return resolveAll(storage()
                .runWaits()
                .resolve(List.of(waiting).stream().map(this::key).toList()));
    }

    /** Repeats the call for runs that another session had locked, as nodes do. */
    private Resolution resolveAll(Resolution first) {
        Resolution last = first;
        while (!last.busy().isEmpty()) last = storage().runWaits().resolve(last.busy());
        return first;
    }

    private Set<RunKey> scanAll() {
        Set<RunKey> found = new LinkedHashSet<>();
        Position after = null;
        do {
            Scan part = storage().runWaits().scan(after, 7);
            found.addAll(part.waiting());
            after = part.last();
        } while (after != null);
        storage().runWaits().resolve(List.copyOf(found));
        return found;
    }

    abstract void assertNoWaits();
}
