package io.carillon.schedule;

import static java.util.Objects.requireNonNull;

/**
 * What happens to a planned wall time that a daylight saving transition skips or repeats. Applies to cron expressions
 * with a fixed time and to calendar intervals. Expressions that follow the clock are not affected.
 */
public record DstPolicy(Gap gap, Repeat repeat) {

    /** The clock jumps forward over the planned time. */
    public enum Gap {
        /** Run once, at the first instant after the gap. */
        RUN_AFTER,
        /** Do not run. */
        SKIP
    }

    /** The clock goes back and shows the planned time twice. */
    public enum Repeat {
        /** Run when the clock shows the time for the first time. */
        FIRST,
        /** Run when the clock shows the time for the second time. */
        SECOND,
        /** Run both times. */
        BOTH
    }

    private static final DstPolicy DEFAULTS = new DstPolicy(Gap.RUN_AFTER, Repeat.FIRST);

    /** The policy of expressions that follow the clock: it neither moves nor suppresses a run. */
    static final DstPolicy FOLLOW_THE_CLOCK = new DstPolicy(Gap.SKIP, Repeat.BOTH);

    public DstPolicy {
        requireNonNull(gap, "gap");
        requireNonNull(repeat, "repeat");
    }

    /** Returns the default: exactly one run for each planned time, after a gap or at the first of two equal times. */
    public static DstPolicy defaults() {
        return DEFAULTS;
    }
}
