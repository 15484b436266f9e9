package io.carillon.run;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** How often a failed run is retried, and after which delays. Immutable; each method returns a changed copy. */
public final class Retry {
    private static final Duration DELAY_LIMIT = Duration.ofDays(365);

    private final Duration first;
    private final double factor;
    private final Duration cap;
    private final int attempts;

    private Retry(Duration first, double factor, Duration cap, int attempts) {
        check(
                !first.isNegative() && first.compareTo(DELAY_LIMIT) <= 0,
                "first must be between 0 and 365 days (was %s)",
                first);
        check(factor >= 1 && factor <= 100, "factor must be between 1 and 100 (was %s)", factor);
        check(!cap.isNegative() && cap.compareTo(DELAY_LIMIT) <= 0, "cap must be between 0 and 365 days (was %s)", cap);
        check(attempts >= 1 && attempts <= 10_000, "attempts must be between 1 and 10000 (was %s)", attempts);
        this.first = first;
        this.factor = factor;
        this.cap = cap;
        this.attempts = attempts;
    }

    /** Returns the default: 8 attempts, with delays that start at 5 seconds and double up to 1 hour. */
    public static Retry defaults() {
        return new Retry(Duration.ofSeconds(5), 2, Duration.ofHours(1), 8);
    }

    /**
     * Returns settings with exponentially growing delays that start at {@code first}. Factor, cap and attempts are
     * those of {@link #defaults()}.
     */
    public static Retry exponential(Duration first) {
        Retry defaults = defaults();
        Duration cap = first.compareTo(defaults.cap) > 0 ? first : defaults.cap;
        return new Retry(first, defaults.factor, cap, defaults.attempts);
    }

    /** Returns settings without retries. */
    public static Retry none() {
        return defaults().attempts(1);
    }

    /** Returns a copy with another factor. */
    public Retry factor(double factor) {
        return new Retry(first, factor, cap, attempts);
    }

    /** Returns a copy with another longest delay. */
    public Retry cap(Duration cap) {
        return new Retry(first, factor, cap, attempts);
    }

    /** Returns a copy with another maximum number of attempts. */
    public Retry attempts(int attempts) {
        return new Retry(first, factor, cap, attempts);
    }

    /** Returns the longest delay after the first failure. */
    public Duration first() {
        return first;
    }

    /** Returns how much the delay grows with each further failure. */
    public double factor() {
        return factor;
    }

    /** Returns the longest delay after any failure. */
    public Duration cap() {
        return cap;
    }

    /** Returns after how many failed attempts the run ends dead. */
    public int attempts() {
        return attempts;
    }

    /** Returns the longest delay after this many failures, at least 1. */
    public Duration longestDelay(int failures) {
        double millis = Math.min(
                (double) cap.toMillis(), (double) first.toMillis() * Math.pow(factor, Math.max(0, failures - 1)));
        return Duration.ofMillis((long) millis);
    }

    /**
     * Returns a random delay between zero and {@link #longestDelay} (full jitter), so that runs that failed together
     * are not retried together.
     */
    public Duration delay(int failures, RandomGenerator random) {
        return Duration.ofMillis(random.nextLong(longestDelay(failures).toMillis() + 1));
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Retry that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    @Override
    public String toString() {
        return "Retry[first=%s, factor=%s, cap=%s, attempts=%s]".formatted(values().toArray());
    }

    private List<@Nullable Object> values() {
        return Arrays.asList(first, factor, cap, attempts);
    }

    private static void check(boolean valid, String message, Object value) {
        if (!valid) throw new CarillonException(ErrorCode.INVALID_OPTION, "Retry: " + message.formatted(value) + ".");
    }
}
