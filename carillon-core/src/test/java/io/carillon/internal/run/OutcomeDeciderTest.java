package io.carillon.internal.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.RandomTrials;
import io.carillon.internal.value.TextCleaner;
import io.carillon.run.HostileErrors;
import io.carillon.run.Outcome;
import io.carillon.run.Payload;
import io.carillon.run.Retry;
import io.carillon.run.TestAttempts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class OutcomeDeciderTest {
    private static final Duration YEAR = Duration.ofDays(365);
    private static final Payload RESULT = new Payload("1".getBytes(StandardCharsets.UTF_8), "json");

    /** One outcome of each kind, and its transition while failures are allowed. */
    private static final Map<Class<?>, Outcome> SAMPLES = Map.of(
            Outcome.Succeeded.class, Outcome.succeeded(RESULT),
            Outcome.Failed.class, Outcome.failed(new IOException("disk")),
            Outcome.Rejected.class, Outcome.rejected("no such customer"),
            Outcome.RetryAfter.class, Outcome.retryAfter(Duration.ofMinutes(3)),
            Outcome.Snoozed.class, Outcome.snoozed(Duration.ofMinutes(4)),
            Outcome.AwaitingCallback.class, new Outcome.AwaitingCallback(Duration.ofHours(1), "digest"),
            Outcome.TimedOut.class, new Outcome.TimedOut(Duration.ofSeconds(9)),
            Outcome.Cancelled.class, new Outcome.Cancelled("not needed"));

    private static final Map<Class<?>, Class<? extends Transition>> NEXT = Map.of(
            Outcome.Succeeded.class, Transition.Complete.class,
            Outcome.Failed.class, Transition.Retry.class,
            Outcome.Rejected.class, Transition.MarkDead.class,
            Outcome.RetryAfter.class, Transition.Retry.class,
            Outcome.Snoozed.class, Transition.Snooze.class,
            Outcome.AwaitingCallback.class, Transition.AwaitCallback.class,
            Outcome.TimedOut.class, Transition.Retry.class,
            Outcome.Cancelled.class, Transition.Cancel.class);

    static List<Class<?>> everyOutcome() {
        return List.of(Outcome.class.getPermittedSubclasses());
    }

    @ParameterizedTest
    @MethodSource("everyOutcome")
    void has_a_rule_for_every_outcome(Class<?> outcome) {
        assertThat(SAMPLES).as("add a sample for the new outcome").containsKey(outcome);

        Transition next = decide(TestAttempts.failed(0), SAMPLES.get(outcome), rule(8));

        assertThat(next).isInstanceOf(NEXT.get(outcome));
    }

    @Test
    void covers_every_outcome() {
        assertThat(everyOutcome()).containsExactlyInAnyOrderElementsOf(SAMPLES.keySet());
    }

    @Test
    void keeps_the_values_of_the_outcome() {
        assertThat(decide(TestAttempts.any(), SAMPLES.get(Outcome.Succeeded.class), rule(8)))
                .isEqualTo(new Transition.Complete(RESULT));
        assertThat(decide(TestAttempts.any(), Outcome.succeeded("not encoded"), rule(8)))
                .isEqualTo(new Transition.Complete(null));
        assertThat(decide(TestAttempts.any(), Outcome.rejected("why\0"), rule(8)))
                .isEqualTo(new Transition.MarkDead("why\uFFFD"));
        assertThat(decide(TestAttempts.any(), new Outcome.Cancelled("who\uD800"), rule(8)))
                .isEqualTo(new Transition.Cancel("who\uFFFD"));
        assertThat(decide(TestAttempts.any(), new Outcome.RetryAfter(Duration.ofMinutes(3), "x\0"), rule(8)))
                .isEqualTo(new Transition.Retry(Duration.ofMinutes(3), "x\uFFFD", false));
        assertThat(decide(TestAttempts.any(), Outcome.snoozed(Duration.ofMinutes(4)), rule(8)))
                .isEqualTo(new Transition.Snooze(Duration.ofMinutes(4)));
        assertThat(decide(TestAttempts.any(), new Outcome.TimedOut(Duration.ofSeconds(9)), rule(8)))
                .isInstanceOfSatisfying(Transition.Retry.class, retry -> {
                    assertThat(retry.timedOut()).isTrue();
                    assertThat(retry.error()).isEqualTo("timed out after PT9S");
                });
    }

    @Test
    void decides_in_advance_what_follows_if_no_callback_arrives() {
        Outcome awaiting = SAMPLES.get(Outcome.AwaitingCallback.class);

        assertThat(decide(TestAttempts.failed(6), awaiting, rule(8)))
                .isInstanceOfSatisfying(Transition.AwaitCallback.class, awaitCallback -> {
                    assertThat(awaitCallback.timeout()).isEqualTo(Duration.ofHours(1));
                    assertThat(awaitCallback.retryDelay()).isNotNull();
                });
        assertThat(decide(TestAttempts.failed(7), awaiting, rule(8)))
                .isEqualTo(new Transition.AwaitCallback(Duration.ofHours(1), "digest", null));
    }

    @Test
    void allows_exactly_as_many_attempts_as_the_policy_says() {
        RandomTrials.run("the last allowed failure is the last", 200, random -> {
            int attempts = 1 + random.nextInt(50);
            List<Outcome> failures = List.of(
                    SAMPLES.get(Outcome.Failed.class),
                    SAMPLES.get(Outcome.RetryAfter.class),
                    SAMPLES.get(Outcome.TimedOut.class));
            int tried = 0;
            Transition next;
            do {
                Outcome outcome = failures.get(random.nextInt(failures.size()));
                next = OutcomeDecider.decide(TestAttempts.failed(tried), outcome, rule(attempts), random);
                tried++;
            } while (next instanceof Transition.Retry && tried < 100);

            assertThat(tried).isEqualTo(attempts);
            assertThat(next).isInstanceOf(Transition.MarkDead.class);
        });
    }

    @Test
    void snoozes_and_cancels_do_not_count_toward_the_limit() {
        assertThat(decide(TestAttempts.failed(7), Outcome.snoozed(Duration.ZERO), rule(8)))
                .isInstanceOf(Transition.Snooze.class);
        assertThat(decide(TestAttempts.failed(7), new Outcome.Cancelled("x"), rule(8)))
                .isInstanceOf(Transition.Cancel.class);
    }

    @Test
    void retry_delays_stay_within_the_policy() {
        RandomTrials.run("retry pauses obey the policy", 500, random -> {
            int failures = random.nextInt(7);
            Retry policy = Retry.exponential(Duration.ofSeconds(2)).cap(Duration.ofSeconds(30));

            Transition next = OutcomeDecider.decide(
                    TestAttempts.failed(failures),
                    SAMPLES.get(Outcome.Failed.class),
                    new RetryRule(policy, List.of()),
                    random);

            assertThat(next)
                    .isInstanceOfSatisfying(
                            Transition.Retry.class,
                            retry -> assertThat(retry.delay())
                                    .isBetween(Duration.ZERO, policy.longestDelay(failures + 1)));
        });
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, 0, 60, 999_999_999, Long.MAX_VALUE})
    void limits_the_delays_that_a_handler_returns(long seconds) {
        Duration asked = Duration.ofSeconds(seconds);
        Duration bounded = seconds < 0 ? Duration.ZERO : asked.compareTo(YEAR) > 0 ? YEAR : asked;

        assertThat(decide(TestAttempts.any(), Outcome.retryAfter(asked), rule(8)))
                .isInstanceOfSatisfying(
                        Transition.Retry.class,
                        retry -> assertThat(retry.delay()).isEqualTo(bounded));
        assertThat(decide(TestAttempts.any(), Outcome.snoozed(asked), rule(8)))
                .isEqualTo(new Transition.Snooze(bounded));
    }

    @Test
    void never_retries_excluded_exceptions_even_when_wrapped() {
        RetryRule never = new RetryRule(Retry.defaults(), List.of(IllegalArgumentException.class));
        Throwable wrapped = new NumberFormatException("x");
        for (int depth = 0; depth < 10; depth++) wrapped = new RuntimeException(wrapped);

        assertThat(decide(TestAttempts.any(), Outcome.failed(new NumberFormatException("x")), never))
                .isInstanceOf(Transition.MarkDead.class);
        assertThat(decide(TestAttempts.any(), Outcome.failed(wrapped), never)).isInstanceOf(Transition.MarkDead.class);
        assertThat(decide(TestAttempts.any(), Outcome.failed(new IllegalStateException("x")), never))
                .isInstanceOf(Transition.Retry.class);
    }

    @Test
    void handles_cyclic_causes() {
        Exception one = new Exception("one");
        Exception two = new Exception("two", one);
        one.initCause(two);
        RetryRule never = new RetryRule(Retry.defaults(), List.of(IOException.class));

        assertThat(decide(TestAttempts.any(), Outcome.failed(one), never)).isInstanceOf(Transition.Retry.class);
    }

    @Test
    void decides_about_every_hostile_error() {
        RetryRule never = new RetryRule(Retry.defaults(), List.of(IOException.class));

        for (Throwable hostile : HostileErrors.all())
            assertThat(decide(TestAttempts.any(), Outcome.failed(hostile), never))
                    .isInstanceOfSatisfying(Transition.Retry.class, retry -> {
                        assertThat(TextCleaner.isClean(retry.error())).isTrue();
                        assertThat(retry.error()).hasSizeBetween(1, 8 * 1024);
                    });
    }

    @Test
    void copies_the_list_of_final_errors() {
        List<Class<? extends Throwable>> mine = new ArrayList<>(List.of(IOException.class));
        RetryRule rule = new RetryRule(Retry.defaults(), mine);
        mine.clear();

        assertThat(rule.isFinal(new IOException())).isTrue();
    }

    private static RetryRule rule(int attempts) {
        return new RetryRule(Retry.defaults().attempts(attempts), List.of());
    }

    private static Transition decide(Attempt attempt, Outcome outcome, RetryRule rule) {
        return OutcomeDecider.decide(attempt, outcome, rule, new Random(1));
    }
}
