package io.carillon.schedule;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.time.Duration;

/**
 * The bounds of an interval that follows the backlog of its lane. It is looked at once after each instant: halved when more runs wait than at the last look,
 * longer by half when none does, and left alone otherwise.
 */
public record Adaptive(Duration min, Duration max) {
    /** Planning looks every ten seconds: it could not follow anything shorter. */
    private static final Duration SHORTEST = Duration.ofSeconds(10);

    private static final Duration LONGEST = Duration.ofDays(366);

    public Adaptive {
        if (!whole(min) || !whole(max))
            throw invalid("The bounds %s and %s are not whole seconds.".formatted(min, max));
        if (min.compareTo(SHORTEST) < 0 || max.compareTo(LONGEST) > 0 || min.compareTo(max) >= 0)
            throw invalid("An interval between %s and %s is none between 10 seconds and 366 days.".formatted(min, max));
    }

    /** The next interval: {@code before} and {@code now} are how many runs waited in the lane at the last look and at this one. */
    public Duration next(Duration current, long before, long now) {
        if (now > before) return longer(min, Duration.ofSeconds(current.toSeconds() / 2));
        if (now > 0) return current;
        Duration grown = Duration.ofSeconds(current.toSeconds() * 3 / 2);
        return grown.compareTo(max) > 0 ? max : grown;
    }

    private static Duration longer(Duration one, Duration other) {
        return one.compareTo(other) > 0 ? one : other;
    }

    private static boolean whole(Duration period) {
        return period.equals(Duration.ofSeconds(period.toSeconds()));
    }

    private static CarillonException invalid(String what) {
        return new CarillonException(ErrorCode.INVALID_OPTION, what + " Choose values inside.");
    }
}
