package io.carillon.run;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** How much of a queue may run at a time and how often one may start, in the whole cluster. Immutable; what is null is not limited. */
public record Limits(@Nullable Integer running, @Nullable Double perSecond) {
    private static final int MOST_RUNNING = 10_000;
    private static final double MOST_PER_SECOND = 10_000;
    private static final double LEAST_PER_SECOND = 1.0 / Duration.ofDays(1).toSeconds();

    public Limits {
        if (running != null && (running < 1 || running > MOST_RUNNING))
            throw invalid("The limit %d is outside 1..%d. To stop a queue, pause it.".formatted(running, MOST_RUNNING));
        if (perSecond != null && !(perSecond >= LEAST_PER_SECOND && perSecond <= MOST_PER_SECOND))
            throw invalid("The rate %s a second is outside one a day and %d a second. Choose one inside."
                    .formatted(perSecond, (int) MOST_PER_SECOND));
    }

    /** No limit. */
    public static Limits none() {
        return new Limits(null, null);
    }

    /** At most so many at a time. */
    public static Limits running(int atMost) {
        return new Limits(atMost, null);
    }

    /** At most so many starts in this time. */
    public static Limits rate(int starts, Duration in) {
        return none().andRate(starts, in);
    }

    /** And at most so many starts in this time. */
    public Limits andRate(int starts, Duration in) {
        if (starts < 1 || in.isNegative() || in.isZero())
            throw invalid("A rate of %d in %s lets nothing start. To stop a queue, pause it.".formatted(starts, in));
        return new Limits(running, starts / (in.toNanos() / 1e9));
    }

    private static CarillonException invalid(String what) {
        return new CarillonException(ErrorCode.INVALID_OPTION, what);
    }
}
