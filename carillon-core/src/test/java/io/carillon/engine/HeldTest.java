package io.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempt;
import io.carillon.run.Attempts;
import io.carillon.value.DatabaseClock;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HeldTest {
    private final DatabaseClock clock = new DatabaseClock();
    private final Attempt attempt = Attempts.failed(2);
    private final Held held = new Held(UUID.randomUUID(), attempt, clock);

    @AfterEach
    void forgetInterrupts() {
        Thread.interrupted();
    }

    @Test
    void shows_its_attempt_to_the_handler() {
        assertThat(held.id()).isEqualTo(attempt.run());
        assertThat(held.attempt()).isEqualTo(1);
        assertThat(held.failures()).isEqualTo(2);
        assertThat(held.plannedAt()).isEmpty();
        assertThat(held.dueAt()).isEqualTo(Attempts.DUE);
        assertThat(held.idempotencyKey()).isEqualTo(attempt.run().toString());
        assertThat(held.cancelled()).isFalse();
    }

    @Test
    void has_a_deadline_on_the_databases_clock() {
        Instant now = Instant.parse("2031-07-01T10:00:00Z");
        clock.observe(now, System.nanoTime());

        held.begin(Duration.ofMinutes(10));

        assertThat(held.deadline()).isBetween(now.plus(Duration.ofMinutes(9)), now.plus(Duration.ofMinutes(11)));
    }

    @Test
    void interrupts_the_thread_that_runs_it_and_keeps_the_first_reason() {
        held.begin(Duration.ofMinutes(1));

        held.stop(Held.Stop.CANCELLED, "first");
        held.stop(Held.Stop.TIMED_OUT, "second");

        assertThat(Thread.interrupted()).isTrue();
        assertThat(held.cancelled()).isTrue();
        assertThat(held.stopped()).isEqualTo(Held.Stop.CANCELLED);
        assertThat(held.stopReason()).isEqualTo("first");
    }

    @Test
    void interrupts_a_thread_that_begins_after_the_stop() {
        held.stop(Held.Stop.CANCELLED, "early");

        held.begin(Duration.ofMinutes(1));

        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void interrupts_nobody_once_user_code_is_done() {
        held.begin(Duration.ofMinutes(1));
        held.finish();

        held.stop(Held.Stop.TIMED_OUT, "late");

        assertThat(Thread.interrupted()).isFalse();
        assertThat(held.running()).isFalse();
    }

    @Test
    void is_ended_by_exactly_one() {
        assertThat(held.end()).isTrue();
        assertThat(held.end()).isFalse();
    }

    @Test
    void gives_up_its_slot_once_and_only_while_user_code_runs() {
        assertThat(held.abandon()).isFalse();
        held.begin(Duration.ofMinutes(1));

        assertThat(held.abandon()).isTrue();
        assertThat(held.abandon()).isFalse();
        assertThat(held.abandoned()).isTrue();
    }

    @Test
    void keeps_a_clean_log_of_bounded_length() {
        assertThat(held.logText()).isNull();

        held.log("one \0 two");
        for (int i = 0; i < 20_000; i++) held.log("a line of the log that goes on and on");

        assertThat(held.logText()).startsWith("one \uFFFD two\n").endsWith("(the log is full)\n");
        assertThat(held.logText().length()).isBetween(60 * 1024, 64 * 1024 + 32);
    }

    @Test
    void keeps_the_last_word_about_its_progress() {
        assertThat(held.progressNow()).isNull();

        held.progress(1, 10);
        held.progress(7, 10);

        assertThat(held.progressNow()).isNotNull();
        assertThat(held.progressNow().done()).isEqualTo(7);
    }

    @Test
    void an_attempt_is_over_when_its_end_is_decided_and_its_handler_has_returned() {
        held.begin(Duration.ofMinutes(1));
        assertThat(held.over()).isFalse();
        held.end();
        assertThat(held.over()).as("its handler goes on").isFalse();
        held.finish();
        assertThat(held.over()).isTrue();
    }
}
