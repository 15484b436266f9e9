package io.carillon.run;

import java.time.Duration;

/** Hears of attempts on this node. Called on the engine's threads: be quick; what it throws is logged and otherwise ignored. */
public interface RunListener {
    /** An attempt is about to call its handler. */
    default void started(Attempt attempt) {}

    /** An attempt is over and what was decided is in the database. */
    default void ended(Attempt attempt, Transition transition, Duration took) {}

    /** Hears nothing. */
    static RunListener none() {
        return new RunListener() {};
    }
}
