package io.carillon.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Trials;
import io.carillon.value.Text;
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

class DeciderTest {
    private static final Duration YEAR = Duration.ofDays(365);
    private static final Payload RESULT = new Payload("1".getBytes(StandardCharsets.UTF_8), "json");

    /** One of each kind and what it must lead to while failures are allowed. */
    private static final Map<Class<?>, Outcome> SAMPLES = Map.of(
            Outcome.Succeeded.class, Outcome.succeeded(RESULT),
            Outcome.Failed.class, Outcome.failed(new IOException("disk")),
            Outcome.Rejected.class, Outcome.rejected("no such customer"),
            Outcome.RetryAfter.class, Outcome.retryAfter(Duration.ofMinutes(3)),
            Outcome.Snoozed.class, Outcome.snoozed(Duration.ofMinutes(4)),
            Outcome.Awaiting.class, new Outcome.Awaiting(Duration.ofHours(1), "digest"),
            Outcome.TimedOut.class, new Outcome.TimedOut(Duration.ofSeconds(9)),
            Outcome.Cancelled.class, new Outcome.Cancelled("not needed"));

    private static final Map<Class<?>, Class<? extends Transition>> NEXT = Map.of(
            Outcome.Succeeded.class, Transition.Complete.class,
            Outcome.Failed.class, Transition.Retry.class,
            Outcome.Rejected.class, Transition.Die.class,
            Outcome.RetryAfter.class, Transition.Retry.class,
            Outcome.Snoozed.class, Transition.Snooze.class,
            Outcome.Awaiting.class, Transition.Await.class,
            Outcome.TimedOut.class, Transition.Retry.class,
            Outcome.Cancelled.class, Transition.Cancel.class);

    static List<Class<?>> everyOutcome() {
        return List.of(Outcome.class.getPermittedSubclasses());
    }

    @ParameterizedTest
    @MethodSource("everyOutcome")
    void has_a_rule_for_every_outcome(Class<?> outcome) {
        assertThat(SAMPLES).as("a new outcome needs a sample here").containsKey(outcome);

        Transition next = decide(Attempts.failed(0), SAMPLES.get(outcome), rule(8));

        assertThat(next).isInstanceOf(NEXT.get(outcome));
    }

    @Test
    void knows_every_outcome_there_is() {
        assertThat(everyOutcome()).containsExactlyInAnyOrderElementsOf(SAMPLES.keySet());
    }

    @Test
    void keeps_what_the_outcome_carries() {
        assertThat(decide(Attempts.any(), SAMPLES.get(Outcome.Succeeded.class), rule(8)))
                .isEqualTo(new Transition.Complete(RESULT));
        assertThat(decide(Attempts.any(), Outcome.succeeded("not encoded"), rule(8)))
                .isEqualTo(new Transition.Complete(null));
        assertThat(decide(Attempts.any(), Outcome.rejected("why\0"), rule(8)))
                .isEqualTo(new Transition.Die("why\uFFFD"));
        assertThat(decide(Attempts.any(), new Outcome.Cancelled("who\uD800"), rule(8)))
                .isEqualTo(new Transition.Cancel("who\uFFFD"));
        assertThat(decide(Attempts.any(), new Outcome.RetryAfter(Duration.ofMinutes(3), "x\0"), rule(8)))
                .isEqualTo(new Transition.Retry(Duration.ofMinutes(3), "x\uFFFD", false));
        assertThat(decide(Attempts.any(), Outcome.snoozed(Duration.ofMinutes(4)), rule(8)))
                .isEqualTo(new Transition.Snooze(Duration.ofMinutes(4)));
        assertThat(decide(Attempts.any(), new Outcome.TimedOut(Duration.ofSeconds(9)), rule(8)))
                .isInstanceOfSatisfying(Transition.Retry.class, retry -> {
                    assertThat(retry.timedOut()).isTrue();
                    assertThat(retry.error()).isEqualTo("timed out after PT9S");
                });
    }

    @Test
    void decides_in_advance_what_follows_if_nobody_completes_it() {
        Outcome awaiting = SAMPLES.get(Outcome.Awaiting.class);

        assertThat(decide(Attempts.failed(6), awaiting, rule(8)))
                .isInstanceOfSatisfying(Transition.Await.class, await -> {
                    assertThat(await.atMost()).isEqualTo(Duration.ofHours(1));
                    assertThat(await.pause()).isNotNull();
                });
        assertThat(decide(Attempts.failed(7), awaiting, rule(8)))
                .isEqualTo(new Transition.Await(Duration.ofHours(1), "digest", null));
    }

    @Test
    void allows_exactly_as_many_attempts_as_the_policy_says() {
        Trials.of("the last allowed failure is the last", 200, random -> {
            int attempts = 1 + random.nextInt(50);
            List<Outcome> failures = List.of(
                    SAMPLES.get(Outcome.Failed.class),
                    SAMPLES.get(Outcome.RetryAfter.class),
                    SAMPLES.get(Outcome.TimedOut.class));
            int tried = 0;
            Transition next;
            do {
                Outcome outcome = failures.get(random.nextInt(failures.size()));
                next = Decider.decide(Attempts.failed(tried), outcome, rule(attempts), random);
                tried++;
            } while (next instanceof Transition.Retry && tried < 100);

            assertThat(tried).isEqualTo(attempts);
            assertThat(next).isInstanceOf(Transition.Die.class);
        });
    }

    @Test
    void counts_no_snooze_and_no_cancel_to_the_limit() {
        assertThat(decide(Attempts.failed(7), Outcome.snoozed(Duration.ZERO), rule(8)))
                .isInstanceOf(Transition.Snooze.class);
        assertThat(decide(Attempts.failed(7), new Outcome.Cancelled("x"), rule(8)))
                .isInstanceOf(Transition.Cancel.class);
    }

    @Test
    void pauses_between_failures_within_the_policy() {
        Trials.of("retry pauses obey the policy", 500, random -> {
            int failures = random.nextInt(7);
            Retry policy = Retry.exponential(Duration.ofSeconds(2)).cap(Duration.ofSeconds(30));

            Transition next = Decider.decide(
                    Attempts.failed(failures),
                    SAMPLES.get(Outcome.Failed.class),
                    new RetryRule(policy, List.of()),
                    random);

            assertThat(next)
                    .isInstanceOfSatisfying(
                            Transition.Retry.class,
                            retry -> assertThat(retry.pause())
                                    .isBetween(Duration.ZERO, policy.longestPause(failures + 1)));
        });
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, 0, 60, 999_999_999, Long.MAX_VALUE})
    void bounds_the_pauses_a_handler_names(long seconds) {
        Duration asked = Duration.ofSeconds(seconds);
        Duration bounded = seconds < 0 ? Duration.ZERO : asked.compareTo(YEAR) > 0 ? YEAR : asked;

        assertThat(decide(Attempts.any(), Outcome.retryAfter(asked), rule(8)))
                .isInstanceOfSatisfying(
                        Transition.Retry.class,
                        retry -> assertThat(retry.pause()).isEqualTo(bounded));
        assertThat(decide(Attempts.any(), Outcome.snoozed(asked), rule(8))).isEqualTo(new Transition.Snooze(bounded));
    }

    @Test
    void never_retries_what_the_handler_excludes_also_when_wrapped() {
        RetryRule never = new RetryRule(Retry.defaults(), List.of(IllegalArgumentException.class));
        Throwable wrapped = new NumberFormatException("x");
        for (int depth = 0; depth < 10; depth++) wrapped = new RuntimeException(wrapped);

        assertThat(decide(Attempts.any(), Outcome.failed(new NumberFormatException("x")), never))
                .isInstanceOf(Transition.Die.class);
        assertThat(decide(Attempts.any(), Outcome.failed(wrapped), never)).isInstanceOf(Transition.Die.class);
        assertThat(decide(Attempts.any(), Outcome.failed(new IllegalStateException("x")), never))
                .isInstanceOf(Transition.Retry.class);
    }

    @Test
    void survives_causes_that_form_a_ring() {
        Exception one = new Exception("one");
        Exception two = new Exception("two", one);
        one.initCause(two);
        RetryRule never = new RetryRule(Retry.defaults(), List.of(IOException.class));

        assertThat(decide(Attempts.any(), Outcome.failed(one), never)).isInstanceOf(Transition.Retry.class);
    }

    @Test
    void decides_about_every_hostile_error() {
        RetryRule never = new RetryRule(Retry.defaults(), List.of(IOException.class));

        for (Throwable hostile : HostileErrors.all())
            assertThat(decide(Attempts.any(), Outcome.failed(hostile), never))
                    .isInstanceOfSatisfying(Transition.Retry.class, retry -> {
                        assertThat(Text.isClean(retry.error())).isTrue();
                        assertThat(retry.error()).hasSizeBetween(1, 8 * 1024);
                    });
    }

    @Test
    void keeps_the_list_of_final_errors_to_itself() {
        List<Class<? extends Throwable>> mine = new ArrayList<>(List.of(IOException.class));
        RetryRule rule = new RetryRule(Retry.defaults(), mine);
        mine.clear();

        assertThat(rule.isFinal(new IOException())).isTrue();
    }

    private static RetryRule rule(int attempts) {
        return new RetryRule(Retry.defaults().attempts(attempts), List.of());
    }

    private static Transition decide(Attempt attempt, Outcome outcome, RetryRule rule) {
        return Decider.decide(attempt, outcome, rule, new Random(1));
    }
}
