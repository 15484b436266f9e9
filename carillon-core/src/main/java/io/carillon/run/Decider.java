package io.carillon.run;

import io.carillon.value.Text;
import java.time.Duration;
import java.util.random.RandomGenerator;

/** Decides, purely and in one place, what follows from an outcome. */
public final class Decider {
    private static final Duration LONGEST = Duration.ofDays(365);

    private Decider() {}

    /** The transition for this attempt; {@code retry} is its handler's rule. */
    public static Transition decide(Attempt attempt, Outcome outcome, RetryRule retry, RandomGenerator random) {
        if (outcome instanceof Outcome.Succeeded succeeded)
            return new Transition.Complete(succeeded.result() instanceof Payload result ? result : null);
        if (outcome instanceof Outcome.Rejected rejected) return new Transition.Die(Text.clean(rejected.reason()));
        if (outcome instanceof Outcome.Snoozed snoozed) return new Transition.Snooze(bounded(snoozed.pause()));
        if (outcome instanceof Outcome.Awaiting awaiting) {
            Transition otherwise = failed(attempt, "", true, retry.retry(), pause(attempt, retry.retry(), random));
            return new Transition.Await(
                    bounded(awaiting.atMost()),
                    awaiting.digest(),
                    otherwise instanceof Transition.Retry again ? again.pause() : null);
        }
        if (outcome instanceof Outcome.Cancelled cancelled)
            return new Transition.Cancel(Text.clean(cancelled.reason()));
        if (outcome instanceof Outcome.Failed failed) {
            String error = ErrorText.of(failed.error());
            if (retry.isFinal(failed.error())) return new Transition.Die(error);
            return failed(attempt, error, false, retry.retry(), pause(attempt, retry.retry(), random));
        }
        if (outcome instanceof Outcome.RetryAfter later)
            return failed(attempt, Text.clean(later.reason()), false, retry.retry(), bounded(later.pause()));
        if (outcome instanceof Outcome.TimedOut timedOut) {
            String error = "timed out after " + timedOut.timeout();
            return failed(attempt, error, true, retry.retry(), pause(attempt, retry.retry(), random));
        }
        throw new AssertionError("no rule for " + outcome.getClass().getSimpleName());
    }

    private static Transition failed(Attempt attempt, String error, boolean timedOut, Retry retry, Duration pause) {
        boolean last = attempt.counts().failures() + 1 >= retry.attempts();
        return last ? new Transition.Die(error) : new Transition.Retry(pause, error, timedOut);
    }

    private static Duration pause(Attempt attempt, Retry retry, RandomGenerator random) {
        return retry.pause(attempt.counts().failures() + 1, random);
    }

    private static Duration bounded(Duration pause) {
        if (pause.isNegative()) return Duration.ZERO;
        return pause.compareTo(LONGEST) > 0 ? LONGEST : pause;
    }
}
