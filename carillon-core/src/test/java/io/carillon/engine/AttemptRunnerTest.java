package io.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempt;
import io.carillon.run.Attempts;
import io.carillon.run.HostileErrors;
import io.carillon.run.Outcome;
import io.carillon.run.Retry;
import io.carillon.run.RetryRule;
import io.carillon.run.RunListener;
import io.carillon.run.Transition;
import io.carillon.schedule.ScheduleListener;
import io.carillon.store.Ended;
import io.carillon.value.DatabaseClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AttemptRunnerTest {
    private final List<Transition> submitted = new ArrayList<>();
    private final List<Held> handedBack = new ArrayList<>();
    private RunListener listener = RunListener.NONE;

    @AfterEach
    void forgetInterrupts() {
        Thread.interrupted();
    }

    @Test
    void hands_over_what_was_decided() {
        assertThat(run(held(), () -> Outcome.succeeded(null))).isEqualTo(new Transition.Complete(null));
        assertThat(run(held(), () -> Outcome.rejected("no"))).isEqualTo(new Transition.Die("no"));
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
    void ends_an_attempt_whose_handler_answers_nothing_at_all() {
        assertThat(run(held(), () -> null)).isInstanceOf(Transition.Retry.class);
    }

    @Test
    void ends_an_attempt_whatever_its_listener_throws() {
        for (Throwable hostile : List.of(new Exception("checked"), new StackOverflowError(), new RuntimeException())) {
            listener = new RunListener() {
                @Override
                public void started(Attempt attempt) {
                    throw LoopTest.<RuntimeException>sneaky(hostile);
                }
            };

            assertThat(run(held(), () -> Outcome.succeeded(null))).isInstanceOf(Transition.Complete.class);
        }
    }

    @Test
    void takes_a_failure_after_a_stop_for_the_stop() {
        Held cancelled = held();
        Held late = held();

        assertThat(run(cancelled, () -> {
                    cancelled.stop(Held.Stop.CANCELLED, "by ann");
                    throw new InterruptedException();
                }))
                .isEqualTo(new Transition.Cancel("by ann"));
        assertThat(run(late, () -> {
                    late.stop(Held.Stop.TIMED_OUT, "late");
                    throw new InterruptedException();
                }))
                .isInstanceOfSatisfying(
                        Transition.Retry.class,
                        retry -> assertThat(retry.timedOut()).isTrue());
    }

    @Test
    void lets_a_success_count_even_if_somebody_asked_it_to_stop() {
        Held held = held();

        assertThat(run(held, () -> {
                    held.stop(Held.Stop.CANCELLED, "too late");
                    return Outcome.succeeded(null);
                }))
                .isInstanceOf(Transition.Complete.class);
    }

    @Test
    void does_not_call_the_handler_of_an_attempt_that_was_stopped_before() {
        Held held = held();
        held.stop(Held.Stop.CANCELLED, "early");

        Transition next = run(held, () -> {
            throw new AssertionError("was called");
        });

        assertThat(next).isEqualTo(new Transition.Cancel("early"));
    }

    @Test
    void hands_back_what_the_stop_of_the_node_interrupted() {
        Held held = held();

        assertThat(run(held, () -> {
                    held.stop(Held.Stop.DRAINED, "stopping");
                    throw new InterruptedException();
                }))
                .isNull();
        assertThat(handedBack).containsExactly(held);
    }

    @Test
    void leaves_no_interrupt_behind_for_whatever_the_thread_does_next() {
        Held held = held();

        run(held, () -> {
            held.stop(Held.Stop.TIMED_OUT, "late");
            return Outcome.succeeded(null);
        });

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void says_nothing_about_an_attempt_that_was_ended_over_its_head() {
        Held held = held();

        assertThat(run(held, () -> {
                    held.end();
                    return Outcome.succeeded(null);
                }))
                .isNull();
    }

    private interface Code {
        Outcome run() throws Exception;
    }

    private Transition run(Held held, Code code) {
        submitted.clear();
        BoundHandler handler = new BoundHandler(
                "test",
                Duration.ofMinutes(1),
                new RetryRule(Retry.defaults(), List.of(java.io.IOException.class)),
                false,
                (attempt, context, connection) -> code.run());
        new AttemptRunner(
                        new HandlerBook(Map.of("test", handler)),
                        new Finished(),
                        transactions(),
                        new Listeners(listener, ScheduleListener.NONE).here().runs())
                .run(held);
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

    private static Held held() {
        return new Held(UUID.randomUUID(), Attempts.any(), new DatabaseClock());
    }

    private final class Finished implements AttemptRunner.Finish {
        @Override
        public void submit(Held held, Ended ended) {
            submitted.add(ended.transition());
        }

        @Override
        public void handBack(Held held) {
            handedBack.add(held);
        }

        @Override
        public void done(Held held, Transition transition) {
            throw new UnsupportedOperationException();
        }
    }
}
