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
    private final double jitter;

    private Retry(Duration first, double factor, Duration cap, int attempts, double jitter) {
        check(
                !first.isNegative() && first.compareTo(DELAY_LIMIT) <= 0,
                "first must be between 0 and 365 days (was %s)",
                first);
        check(factor >= 1 && factor <= 100, "factor must be between 1 and 100 (was %s)", factor);
        check(!cap.isNegative() && cap.compareTo(DELAY_LIMIT) <= 0, "cap must be between 0 and 365 days (was %s)", cap);
        check(first.compareTo(cap) <= 0, "first must not exceed cap (was %s)", first + " > " + cap);
        check(attempts >= 1 && attempts <= 10_000, "attempts must be between 1 and 10000 (was %s)", attempts);
        check(jitter >= 0 && jitter <= 1, "jitter must be between 0 and 1 (was %s)", jitter);
        this.first = first;
        this.factor = factor;
        this.cap = cap;
        this.attempts = attempts;
        this.jitter = jitter;
    }

    /**
     * Returns the default: 8 attempts, with delays that start at 5 seconds and double up to 1 hour, and full jitter.
     */
    public static Retry defaults() {
        return new Retry(Duration.ofSeconds(5), 2, Duration.ofHours(1), 8, 1);
    }

    /**
     * Returns settings with exponentially growing delays that start at {@code first}. Factor, cap, attempts and jitter
     * are those of {@link #defaults()}; the cap is {@code first} if that is longer.
     */
    public static Retry exponential(Duration first) {
        Retry defaults = defaults();
        Duration cap = first.compareTo(defaults.cap) > 0 ? first : defaults.cap;
        return new Retry(first, defaults.factor, cap, defaults.attempts, defaults.jitter);
    }

    /** Returns settings without retries. */
    public static Retry none() {
        return defaults().attempts(1);
    }

    /** Returns a copy with another factor. */
    public Retry factor(double factor) {
        return new Retry(first, factor, cap, attempts, jitter);
    }

    /** Returns a copy with another longest delay, which must not be shorter than the first one. */
    public Retry cap(Duration cap) {
        return new Retry(first, factor, cap, attempts, jitter);
    }

    /** Returns a copy with another maximum number of attempts. */
    public Retry attempts(int attempts) {
        return new Retry(first, factor, cap, attempts, jitter);
    }

    /**
     * Returns a copy with another jitter: the part of each delay that is random, from 0 to 1. With 0 each delay has its
     * full length, with 0.1 at least 90 % of it; with 1, the default, it is any time from zero to its full length.
     */
    public Retry jitter(double jitter) {
        return new Retry(first, factor, cap, attempts, jitter);
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

    /** Returns the part of each delay that is random. */
    public double jitter() {
        return jitter;
    }

    /** Returns the longest delay after this many failures, at least 1. */
    public Duration longestDelay(int failures) {
        double millis = Math.min(
                (double) cap.toMillis(), (double) first.toMillis() * Math.pow(factor, Math.max(0, failures - 1)));
        return Duration.ofMillis((long) millis);
    }

    /**
     * Returns a random delay up to {@link #longestDelay}, so that runs that failed together are not retried together.
     * The jitter determines how short it may be.
     */
    public Duration delay(int failures, RandomGenerator random) {
        long longest = longestDelay(failures).toMillis();
        return Duration.ofMillis(longest - random.nextLong((long) (longest * jitter) + 1));
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
        return "Retry[first=%s, factor=%s, cap=%s, attempts=%s, jitter=%s]".formatted(values().toArray());
    }

    private List<@Nullable Object> values() {
        return Arrays.asList(first, factor, cap, attempts, jitter);
    }

    private static void check(boolean valid, String message, Object value) {
        if (!valid) throw new CarillonException(ErrorCode.INVALID_OPTION, "Retry: " + message.formatted(value) + ".");
    }
}
