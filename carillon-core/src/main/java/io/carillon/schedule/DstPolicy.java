package io.carillon.schedule;

import static java.util.Objects.requireNonNull;

/**
 * What becomes of a planned wall time that a change of the clocks removes or repeats. It touches fixed-time cron
 * expressions and calendar intervals only; an expression that follows the clock has no choice to make.
 */
public record DstPolicy(Gap gap, Repeat repeat) {

    /** The clocks jump forward over the planned time. */
    public enum Gap {
        /** Run once, at the first instant after the gap. */
        RUN_AFTER,
        /** Do not run. */
        SKIP
    }

    /** The clocks go back and show the planned time twice. */
    public enum Repeat {
        /** Run when the clocks show it for the first time. */
        FIRST,
        /** Run when the clocks show it for the second time. */
        SECOND,
        /** Run both times. */
        BOTH
    }

    private static final DstPolicy DEFAULTS = new DstPolicy(Gap.RUN_AFTER, Repeat.FIRST);

    /** Following the clock is the policy that neither moves nor suppresses anything. */
    static final DstPolicy FOLLOW_THE_CLOCK = new DstPolicy(Gap.SKIP, Repeat.BOTH);

    public DstPolicy {
        requireNonNull(gap, "gap");
        requireNonNull(repeat, "repeat");
    }

    /** Exactly one run for each planned time: after the gap, and in the first pass. */
    public static DstPolicy defaults() {
        return DEFAULTS;
    }
}
