package io.carillon.schedule;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.time.Duration;

/** What a schedule does about missed instants and overlaps. {@code grace}: how late an instant may start as if on time. */
public record Policies(Missed missed, Duration grace, Duration catchUp, Overlap overlap) {
    private static final Duration LONGEST = Duration.ofDays(366);

    public Policies {
        check("grace", grace);
        check("catch-up window", catchUp);
    }

    /** Run once when missed, 5 min of grace, 24 h of catch-up, overlaps allowed. */
    public static Policies defaults() {
        return new Policies(Missed.RUN_ONCE, Duration.ofMinutes(5), Duration.ofHours(24), Overlap.ALLOW);
    }

    public Policies missed(Missed missed) {
        return new Policies(missed, grace, catchUp, overlap);
    }

    public Policies grace(Duration grace) {
        return new Policies(missed, grace, catchUp, overlap);
    }

    public Policies catchUp(Duration catchUp) {
        return new Policies(missed, grace, catchUp, overlap);
    }

    public Policies overlap(Overlap overlap) {
        return new Policies(missed, grace, catchUp, overlap);
    }

    private static void check(String what, Duration value) {
        if (value.isNegative() || value.compareTo(LONGEST) > 0)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "The %s %s is outside 0..366 days. Choose one inside.".formatted(what, value));
    }
}
