package io.carillon.schedule;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.time.Duration;

/** What a schedule does about missed instants and overlaps. {@code grace}: how late an instant may start as if on time. */
public record Policies(Missed missed, Duration grace, Duration catchUp, Overlap overlap) {
    private static final Duration SHORTEST_GRACE = Duration.ofSeconds(1);
    private static final Duration LONGEST = Duration.ofDays(366);

    public Policies {
        // Nobody starts a run in no time: without grace every instant would be missed.
        check("grace", grace, SHORTEST_GRACE);
        check("catch-up window", catchUp, Duration.ZERO);
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

    private static void check(String what, Duration value, Duration least) {
        if (value.compareTo(least) < 0 || value.compareTo(LONGEST) > 0)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "The %s %s is outside %d s..366 days. Choose one inside."
                            .formatted(what, value, least.toSeconds()));
    }
}
