package io.carillon.internal.engine.attempt;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.engine.listener.Listeners;
import io.carillon.internal.engine.listener.LoopReports;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.run.EndedAttempt;
import io.carillon.internal.store.run.RunStore;
import io.carillon.internal.store.run.WriteResult;
import io.carillon.internal.value.DatabaseClock;
import io.carillon.run.Run;
import io.carillon.run.TestAttempts;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CompleterTest {
    private static final UUID NODE = new UUID(1, 1);

    private final List<Integer> groups = new ArrayList<>();
    private final AtomicLong nanos = new AtomicLong(1);
    private boolean attemptsWait = true;
    /** The attempt whose run another transaction has locked. */
    private Attempt lockedRun;

    private final Completer completer = new Completer(
            recordingStore(),
            new ActiveAttempts(LoopReports.NONE),
            Listeners.none().onCallingThread().attempts(),
            LoopReports.NONE,
            () -> attemptsWait,
            nanos::get);

    /** A store that accepts all ends and records the sizes of the groups. */
    private RunStore recordingStore() {
        return (RunStore) Proxy.newProxyInstance(
                RunStore.class.getClassLoader(), new Class<?>[] {RunStore.class}, (proxy, method, arguments) -> {
                    List<?> ended = (List<?>) arguments[1];
                    // Each group also hands back what is to be handed back: nothing.
                    if (method.getName().equals("handBackRows") && ended.isEmpty()) return 0;
                    assertThat(method.getName()).startsWith("apply");
                    groups.add(ended.size());
                    return ended.stream()
                            .map(one -> ((EndedAttempt) one).attempt().equals(lockedRun)
                                    ? WriteResult.LOCKED
                                    : WriteResult.ACCEPTED)
                            .toList();
                });
    }

    private void end(Attempt attempt, int times) {
        for (int i = 0; i < times; i++)
            completer.submit(
                    new ActiveAttempt(NODE, attempt, new DatabaseClock()),
                    new EndedAttempt(attempt, new Transition.Complete(null), Duration.ZERO, null, false, null));
    }

    private static Attempt withGate() {
        Attempt plain = TestAttempts.any();
        return new Attempt(
                plain.run(),
                plain.number(),
                plain.lane(),
                plain.priority(),
                plain.origin(),
                plain.target(),
                plain.payload(),
                plain.times(),
                plain.counts(),
                new Attempt.References(null, null, "concurrency:account", new Run.Policy(null, null)),
                null);
    }

    @Test
    void an_end_that_is_alone_is_written_immediately() throws InterruptedException {
        end(TestAttempts.any(), 1);

        completer.runRound();

        assertThat(groups).containsExactly(1);
    }

    @Test
    void while_attempts_wait_for_a_slot_the_next_group_collects_for_five_milliseconds() throws InterruptedException {
        end(TestAttempts.any(), 1);
        completer.runRound();
        end(TestAttempts.any(), 2);
        completer.runRound();
        assertThat(groups).containsExactly(1);

        nanos.addAndGet(Duration.ofMillis(5).toNanos());
        end(TestAttempts.any(), 1);
        completer.runRound();

        assertThat(groups).containsExactly(1, 3);
    }

    @Test
    void an_end_does_not_wait_if_no_attempt_waits_for_a_slot() throws InterruptedException {
        attemptsWait = false;
        end(TestAttempts.any(), 1);
        completer.runRound();
        end(TestAttempts.any(), 1);
        completer.runRound();

        assertThat(groups).containsExactly(1, 1);
    }

    @Test
    void an_end_for_which_a_gate_waits_is_written_immediately_and_takes_the_others_along() throws InterruptedException {
        end(TestAttempts.any(), 1);
        completer.runRound();
        end(TestAttempts.any(), 1);
        end(withGate(), 1);
        completer.runRound();

        assertThat(groups).containsExactly(1, 2);
    }

    @Test
    void an_end_that_is_locked_is_kept_while_other_groups_are_written() throws InterruptedException {
        lockedRun = TestAttempts.any();
        end(lockedRun, 1);
        completer.runRound();
        attemptsWait = false;
        end(TestAttempts.any(), 1);
        completer.runRound();
        assertThat(completer.backlog()).isEqualTo(1);

        lockedRun = null;
        nanos.addAndGet(Duration.ofMillis(100).toNanos());
        end(TestAttempts.any(), 1);
        completer.runRound();

        assertThat(completer.backlog()).isZero();
        assertThat(completer.endedCount()).isEqualTo(3);
    }

    @Test
    void a_large_group_is_written_immediately() throws InterruptedException {
        end(TestAttempts.any(), 1);
        completer.runRound();
        end(TestAttempts.any(), Completer.LARGE_GROUP + 1);
        completer.runRound();

        assertThat(groups).containsExactly(1, Completer.LARGE_GROUP + 1);
    }
}
