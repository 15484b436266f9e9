package io.carillon.run;

import java.time.Duration;

/** Hears of attempts on this node, in order, a moment after they happened. It may be slow and may throw: runs neither wait nor fail for it. */
public interface RunListener {
    /** Hears nothing. */
    RunListener NONE = new RunListener() {};

    /** An attempt is about to call its handler. */
    default void started(Attempt attempt) {}

    /** An attempt is over and what was decided is in the database. */
    default void ended(Attempt attempt, Transition transition, Duration took) {}

    /** Told after {@link #ended}: the run has no attempt left, or its handler rejected it, and lies in the dead letter. */
    default void dead(Attempt attempt, String error) {}

    /** Hears nothing. */
    static RunListener none() {
        return NONE;
    }
}
