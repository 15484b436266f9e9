package io.carillon.internal.engine.attempt;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.value.DatabaseClock;
import io.carillon.run.TestAttempts;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ActiveAttemptTest {
    private final DatabaseClock clock = new DatabaseClock();
    private final Attempt attempt = TestAttempts.failed(2);
    private final ActiveAttempt activeAttempt = new ActiveAttempt(UUID.randomUUID(), attempt, clock);

    @AfterEach
    void forgetInterrupts() {
        Thread.interrupted();
    }

    @Test
    void shows_its_attempt_to_the_handler() {
        assertThat(activeAttempt.id()).isEqualTo(attempt.run());
        assertThat(activeAttempt.attempt()).isEqualTo(1);
        assertThat(activeAttempt.failures()).isEqualTo(2);
        assertThat(activeAttempt.plannedAt()).isEmpty();
        assertThat(activeAttempt.dueAt()).isEqualTo(TestAttempts.DUE);
        assertThat(activeAttempt.idempotencyKey()).isEqualTo(attempt.run().toString());
        assertThat(activeAttempt.isStopRequested()).isFalse();
    }

    @Test
    void has_a_deadline_on_the_databases_clock() {
        Instant now = Instant.parse("2031-07-01T10:00:00Z");
        clock.observe(now, System.nanoTime());

        activeAttempt.begin(Duration.ofMinutes(10));

        assertThat(activeAttempt.deadline())
                .isBetween(now.plus(Duration.ofMinutes(9)), now.plus(Duration.ofMinutes(11)));
    }

    @Test
    void interrupts_the_thread_that_runs_it_and_keeps_the_first_reason() {
        activeAttempt.begin(Duration.ofMinutes(1));

        activeAttempt.stop(ActiveAttempt.StopCause.CANCELLED, "first");
        activeAttempt.stop(ActiveAttempt.StopCause.TIMED_OUT, "second");

        assertThat(Thread.interrupted()).isTrue();
        assertThat(activeAttempt.isStopRequested()).isTrue();
        assertThat(activeAttempt.stopCause()).isEqualTo(ActiveAttempt.StopCause.CANCELLED);
        assertThat(activeAttempt.stopMessage()).isEqualTo("first");
    }

    @Test
    void interrupts_a_thread_that_begins_after_the_stop() {
        activeAttempt.stop(ActiveAttempt.StopCause.CANCELLED, "early");

        activeAttempt.begin(Duration.ofMinutes(1));

        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void interrupts_no_thread_once_user_code_is_done() {
        activeAttempt.begin(Duration.ofMinutes(1));
        activeAttempt.detachThread();

        activeAttempt.stop(ActiveAttempt.StopCause.TIMED_OUT, "late");

        assertThat(Thread.interrupted()).isFalse();
        assertThat(activeAttempt.isRunning()).isFalse();
    }

    @Test
    void is_ended_by_exactly_one_caller() {
        assertThat(activeAttempt.tryEnd()).isTrue();
        assertThat(activeAttempt.tryEnd()).isFalse();
    }

    @Test
    void gives_up_its_slot_once_and_only_while_user_code_runs() {
        assertThat(activeAttempt.abandon()).isFalse();
        activeAttempt.begin(Duration.ofMinutes(1));

        assertThat(activeAttempt.abandon()).isTrue();
        assertThat(activeAttempt.abandon()).isFalse();
        assertThat(activeAttempt.isAbandoned()).isTrue();
    }

    @Test
    void keeps_a_clean_log_of_bounded_length() {
        assertThat(activeAttempt.logText()).isNull();

        activeAttempt.log("one \0 two");
        for (int i = 0; i < 20_000; i++) activeAttempt.log("a line of the log that goes on and on");

        assertThat(activeAttempt.logText()).startsWith("one \uFFFD two\n").endsWith("(log truncated at 64 KiB)\n");
        assertThat(activeAttempt.logText().length()).isBetween(60 * 1024, 64 * 1024 + 32);
    }

    @Test
    void keeps_the_latest_progress() {
        assertThat(activeAttempt.latestProgress()).isNull();

        activeAttempt.reportProgress(1, 10);
        activeAttempt.reportProgress(7, 10);

        assertThat(activeAttempt.latestProgress()).isNotNull();
        assertThat(activeAttempt.latestProgress().done()).isEqualTo(7);
    }

    @Test
    void an_attempt_is_over_when_its_end_is_decided_and_its_handler_has_returned() {
        activeAttempt.begin(Duration.ofMinutes(1));
        assertThat(activeAttempt.isFinished()).isFalse();
        activeAttempt.tryEnd();
        assertThat(activeAttempt.isFinished())
                .as("the handler has not returned")
                .isFalse();
        activeAttempt.detachThread();
        assertThat(activeAttempt.isFinished()).isTrue();
    }
}
