package io.carillon;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The limits of a queue across the cluster. Immutable.
 *
 * @param maxRunning how many runs execute at the same time; null if unlimited
 * @param perSecond how many runs start per second; null if unlimited
 */
public record QueueLimits(
        @Nullable Integer maxRunning, @Nullable Double perSecond) {
    private static final int MAX_RUNNING = 10_000;
    private static final double MAX_PER_SECOND = 10_000;
    private static final double MIN_PER_SECOND = 1.0 / Duration.ofDays(1).toSeconds();

    public QueueLimits {
        if (maxRunning != null && (maxRunning < 1 || maxRunning > MAX_RUNNING))
            throw invalid("maxRunning %d is not allowed: it must be between 1 and %d. To stop a queue, pause it."
                    .formatted(maxRunning, MAX_RUNNING));
        if (perSecond != null && !(perSecond >= MIN_PER_SECOND && perSecond <= MAX_PER_SECOND))
            throw invalid("The rate %s per second is not allowed: it must be between 1 per day and %d per second."
                    .formatted(perSecond, (int) MAX_PER_SECOND));
    }

    /** Returns limits that limit nothing. */
    public static QueueLimits none() {
        return new QueueLimits(null, null);
    }

    /** Limits how many runs execute at the same time. */
    public static QueueLimits maxRunning(int atMost) {
        return new QueueLimits(atMost, null);
    }

    /** Limits how many runs start within the period. */
    public static QueueLimits rate(int starts, Duration period) {
        return none().andRate(starts, period);
    }

    /** Returns a copy that also limits how many runs start within the period. */
    public QueueLimits andRate(int starts, Duration period) {
        if (starts < 1 || period.isNegative() || period.isZero())
            throw invalid(
                    ("The rate %d per %s is not allowed: starts must be at least 1 and period must be positive. To"
                                    + " stop a queue, pause it.")
                            .formatted(starts, period));
        return new QueueLimits(maxRunning, starts / (period.toNanos() / 1e9));
    }

    private static CarillonException invalid(String what) {
        return new CarillonException(ErrorCode.INVALID_OPTION, what);
    }
}
