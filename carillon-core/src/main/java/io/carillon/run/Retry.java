package io.carillon.run;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.time.Duration;
import java.util.random.RandomGenerator;

/** How often and after which pauses a failed run is tried again. Immutable; each method returns a changed copy. */
public record Retry(Duration first, double factor, Duration cap, int attempts) {
    private static final Duration LONGEST = Duration.ofDays(365);

    public Retry {
        check(!first.isNegative() && first.compareTo(LONGEST) <= 0, "first pause %s is outside 0..365 days", first);
        check(factor >= 1 && factor <= 100, "factor %s is outside 1..100", factor);
        check(!cap.isNegative() && cap.compareTo(LONGEST) <= 0, "cap %s is outside 0..365 days", cap);
        check(attempts >= 1 && attempts <= 10_000, "attempts %s is outside 1..10000", attempts);
    }

    /** 8 attempts, 5 s doubling up to 1 h. */
    public static Retry defaults() {
        return new Retry(Duration.ofSeconds(5), 2, Duration.ofHours(1), 8);
    }

    /** Pauses that grow from a first one; factor, cap and attempts as in {@link #defaults()}. */
    public static Retry exponential(Duration first) {
        Retry defaults = defaults();
        Duration cap = first.compareTo(defaults.cap) > 0 ? first : defaults.cap;
        return new Retry(first, defaults.factor, cap, defaults.attempts);
    }

    /** No second try. */
    public static Retry none() {
        return defaults().attempts(1);
    }

    public Retry factor(double factor) {
        return new Retry(first, factor, cap, attempts);
    }

    public Retry cap(Duration cap) {
        return new Retry(first, factor, cap, attempts);
    }

    public Retry attempts(int attempts) {
        return new Retry(first, factor, cap, attempts);
    }

    /** The longest pause after the n-th failure (n from 1). */
    public Duration longestPause(int failures) {
        double millis = Math.min(
                (double) cap.toMillis(), (double) first.toMillis() * Math.pow(factor, Math.max(0, failures - 1)));
        return Duration.ofMillis((long) millis);
    }

    /** Full jitter: anywhere up to the longest pause, so that runs that failed together do not come back together. */
    public Duration pause(int failures, RandomGenerator random) {
        return Duration.ofMillis(random.nextLong(longestPause(failures).toMillis() + 1));
    }

    private static void check(boolean fine, String message, Object value) {
        if (!fine)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION, "Retry: " + message.formatted(value) + ". Choose a value inside.");
    }
}
