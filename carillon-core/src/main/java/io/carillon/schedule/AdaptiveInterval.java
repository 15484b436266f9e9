package io.carillon.schedule;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import java.time.Duration;

/**
 * The bounds of an interval that adapts to the backlog of its lane. The interval is adjusted once after each planned
 * instant: it is halved if more runs wait than at the last adjustment, grows by half if no run waits, and otherwise
 * stays unchanged.
 */
public record AdaptiveInterval(Duration min, Duration max) {
    /** Planning runs every 10 seconds and could not follow a shorter interval. */
    private static final Duration MIN_INTERVAL = Duration.ofSeconds(10);

    private static final Duration MAX_INTERVAL = Duration.ofDays(366);

    public AdaptiveInterval {
        if (!isWholeSeconds(min) || !isWholeSeconds(max))
            throw invalid("min and max must be whole seconds (were %s and %s).".formatted(min, max));
        if (min.compareTo(MIN_INTERVAL) < 0 || max.compareTo(MAX_INTERVAL) > 0 || min.compareTo(max) >= 0)
            throw invalid(("min and max must be between 10 seconds and 366 days, and min must be less than max (were"
                            + " %s and %s).")
                    .formatted(min, max));
    }

    /**
     * Returns the next interval.
     *
     * @param previousBacklog how many runs waited in the lane at the last adjustment
     * @param backlog how many runs wait in the lane now
     */
    public Duration next(Duration current, long previousBacklog, long backlog) {
        if (backlog > previousBacklog) return longerOf(min, Duration.ofSeconds(current.toSeconds() / 2));
        if (backlog > 0) return current;
        Duration grown = Duration.ofSeconds(current.toSeconds() * 3 / 2);
        return grown.compareTo(max) > 0 ? max : grown;
    }

    private static Duration longerOf(Duration one, Duration other) {
        return one.compareTo(other) > 0 ? one : other;
    }

    private static boolean isWholeSeconds(Duration period) {
        return period.equals(Duration.ofSeconds(period.toSeconds()));
    }

    private static CarillonException invalid(String what) {
        return new CarillonException(ErrorCode.INVALID_OPTION, what);
    }
}
