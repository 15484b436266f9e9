package io.carillon.internal.run;

import io.carillon.internal.value.TextCleaner;
import io.carillon.run.Outcome;
import io.carillon.run.Payload;
import io.carillon.run.Retry;
import java.time.Duration;
import java.util.random.RandomGenerator;

/** Decides what happens to a run after an attempt. Has no side effects. */
public final class OutcomeDecider {
    private static final Duration MAX_DELAY = Duration.ofDays(365);

    private OutcomeDecider() {}

    /** Returns the transition for the outcome of an attempt under a retry rule. */
    public static Transition decide(Attempt attempt, Outcome outcome, RetryRule retry, RandomGenerator random) {
        if (outcome instanceof Outcome.Succeeded succeeded)
            return new Transition.Complete(succeeded.result() instanceof Payload result ? result : null);
        if (outcome instanceof Outcome.Rejected rejected)
            return new Transition.MarkDead(TextCleaner.clean(rejected.reason()));
        if (outcome instanceof Outcome.Snoozed snoozed) return new Transition.Snooze(bounded(snoozed.delay()));
        if (outcome instanceof Outcome.AwaitingCallback awaitingCallback) {
            Transition otherwise =
                    afterFailure(attempt, "", true, retry.policy(), retryDelay(attempt, retry.policy(), random));
            return new Transition.AwaitCallback(
                    bounded(awaitingCallback.timeout()),
                    awaitingCallback.tokenDigest(),
                    otherwise instanceof Transition.Retry again ? again.delay() : null);
        }
        if (outcome instanceof Outcome.Cancelled cancelled)
            return new Transition.Cancel(TextCleaner.clean(cancelled.reason()));
        if (outcome instanceof Outcome.Failed failed) {
            String error = ErrorText.of(failed.error());
            if (retry.isFinal(failed.error())) return new Transition.MarkDead(error);
            return afterFailure(attempt, error, false, retry.policy(), retryDelay(attempt, retry.policy(), random));
        }
        if (outcome instanceof Outcome.RetryAfter later)
            return afterFailure(
                    attempt, TextCleaner.clean(later.reason()), false, retry.policy(), bounded(later.delay()));
        if (outcome instanceof Outcome.TimedOut timedOut) {
            String error = "timed out after " + timedOut.timeout();
            return afterFailure(attempt, error, true, retry.policy(), retryDelay(attempt, retry.policy(), random));
        }
        throw new AssertionError("no rule for " + outcome.getClass().getSimpleName());
    }

    private static Transition afterFailure(
            Attempt attempt, String error, boolean timedOut, Retry retry, Duration delay) {
        boolean last = attempt.counts().failures() + 1 >= retry.attempts();
        return last ? new Transition.MarkDead(error) : new Transition.Retry(delay, error, timedOut);
    }

    private static Duration retryDelay(Attempt attempt, Retry retry, RandomGenerator random) {
        return retry.delay(attempt.counts().failures() + 1, random);
    }

    private static Duration bounded(Duration delay) {
        if (delay.isNegative()) return Duration.ZERO;
        return delay.compareTo(MAX_DELAY) > 0 ? MAX_DELAY : delay;
    }
}
