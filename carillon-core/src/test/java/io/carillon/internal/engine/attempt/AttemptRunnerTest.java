package io.carillon.internal.engine.attempt;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.engine.listener.Listeners;
import io.carillon.internal.engine.loop.LoopTest;
import io.carillon.internal.run.RetryRule;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.run.EndedAttempt;
import io.carillon.internal.value.DatabaseClock;
import io.carillon.run.HostileErrors;
import io.carillon.run.Outcome;
import io.carillon.run.Retry;
import io.carillon.run.TestAttempts;
import io.carillon.spi.RunListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AttemptRunnerTest {
    private final List<Transition> submitted = new ArrayList<>();
    private final List<ActiveAttempt> handedBack = new ArrayList<>();
    private RunListener listener = event -> {};

    @AfterEach
    void forgetInterrupts() {
        Thread.interrupted();
    }

    @Test
    void hands_over_what_was_decided() {
        assertThat(run(held(), () -> Outcome.succeeded(null))).isEqualTo(new Transition.Complete(null));
        assertThat(run(held(), () -> Outcome.rejected("no"))).isEqualTo(new Transition.MarkDead("no"));
    }

    @Test
    void ends_an_attempt_whatever_its_handler_throws() {
        for (Throwable hostile : HostileErrors.all())
            assertThat(run(held(), () -> {
                        throw LoopTest.<RuntimeException>sneaky(hostile);
                    }))
                    .isInstanceOf(Transition.Retry.class);
    }

    @Test
    void ends_an_attempt_whose_handler_returns_null() {
        assertThat(run(held(), () -> null)).isInstanceOf(Transition.Retry.class);
    }

    @Test
    void ends_an_attempt_whatever_its_listener_throws() {
        for (Throwable hostile : List.of(new Exception("checked"), new StackOverflowError(), new RuntimeException())) {
            listener = event -> {
                throw LoopTest.<RuntimeException>sneaky(hostile);
            };

            assertThat(run(held(), () -> Outcome.succeeded(null))).isInstanceOf(Transition.Complete.class);
        }
    }

    @Test
    void a_failure_after_a_stop_is_recorded_as_the_stop() {
        ActiveAttempt cancelled = held();
        ActiveAttempt late = held();

        assertThat(run(cancelled, () -> {
                    cancelled.stop(ActiveAttempt.StopCause.CANCELLED, "by ann");
                    throw new InterruptedException();
                }))
                .isEqualTo(new Transition.Cancel("by ann"));
        assertThat(run(late, () -> {
                    late.stop(ActiveAttempt.StopCause.TIMED_OUT, "late");
                    throw new InterruptedException();
                }))
                .isInstanceOfSatisfying(
                        Transition.Retry.class,
                        retry -> assertThat(retry.timedOut()).isTrue());
    }

    @Test
    void a_success_counts_even_after_a_request_to_stop() {
        ActiveAttempt activeAttempt = held();

        assertThat(run(activeAttempt, () -> {
                    activeAttempt.stop(ActiveAttempt.StopCause.CANCELLED, "too late");
                    return Outcome.succeeded(null);
                }))
                .isInstanceOf(Transition.Complete.class);
    }

    @Test
    void does_not_call_the_handler_of_an_attempt_that_was_stopped_before() {
        ActiveAttempt activeAttempt = held();
        activeAttempt.stop(ActiveAttempt.StopCause.CANCELLED, "early");

        Transition next = run(activeAttempt, () -> {
            throw new AssertionError("was called");
        });

        assertThat(next).isEqualTo(new Transition.Cancel("early"));
    }

    @Test
    void hands_back_what_the_stop_of_the_node_interrupted() {
        ActiveAttempt activeAttempt = held();

        assertThat(run(activeAttempt, () -> {
                    activeAttempt.stop(ActiveAttempt.StopCause.NODE_STOPPING, "stopping");
                    throw new InterruptedException();
                }))
                .isNull();
        assertThat(handedBack).containsExactly(activeAttempt);
    }

    @Test
    void leaves_no_interrupt_behind_for_whatever_the_thread_does_next() {
        ActiveAttempt activeAttempt = held();

        run(activeAttempt, () -> {
            activeAttempt.stop(ActiveAttempt.StopCause.TIMED_OUT, "late");
            return Outcome.succeeded(null);
        });

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void writes_nothing_for_an_attempt_that_the_engine_has_ended() {
        ActiveAttempt activeAttempt = held();

        assertThat(run(activeAttempt, () -> {
                    activeAttempt.tryEnd();
                    return Outcome.succeeded(null);
                }))
                .isNull();
    }

    private interface Code {
        Outcome run() throws Exception;
    }

    private Transition run(ActiveAttempt activeAttempt, Code code) {
        submitted.clear();
        BoundHandler handler = new BoundHandler(
                "test",
                Duration.ofMinutes(1),
                new RetryRule(Retry.defaults(), List.of(java.io.IOException.class)),
                false,
                (attempt, context, connection) -> code.run());
        new AttemptRunner(
                        new HandlerRegistry(Map.of("test", handler)),
                        new RecordingSink(),
                        transactions(),
                        Listeners.none()
                                .withRunListener(listener)
                                .onCallingThread()
                                .attempts())
                .run(activeAttempt);
        assertThat(submitted).hasSizeLessThanOrEqualTo(1);
        return submitted.isEmpty() ? null : submitted.get(0);
    }

    private static TransactionalCalls transactions() {
        return new TransactionalCalls(
                () -> {
                    throw new UnsupportedOperationException();
                },
                null,
                1);
    }

    private static ActiveAttempt held() {
        return new ActiveAttempt(UUID.randomUUID(), TestAttempts.any(), new DatabaseClock());
    }

    private final class RecordingSink implements AttemptRunner.ResultSink {
        @Override
        public void submit(ActiveAttempt activeAttempt, EndedAttempt endedAttempt) {
            submitted.add(endedAttempt.transition());
        }

        @Override
        public void handBack(ActiveAttempt activeAttempt) {
            handedBack.add(activeAttempt);
        }

        @Override
        public void handleCommitted(ActiveAttempt activeAttempt, Transition transition) {
            throw new UnsupportedOperationException();
        }
    }
}
