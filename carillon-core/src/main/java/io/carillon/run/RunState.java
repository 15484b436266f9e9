package io.carillon.run;

import java.util.Locale;

/**
 * The state of a run. {@link #WAITING} and {@link #RUNNING} are stored in the table {@code run}; all other
 * states are final.
 */
public enum RunState {
    WAITING,
    RUNNING,
    SUCCEEDED,
    DEAD,
    CANCELLED,
    QUARANTINED,
    /** A tick that was skipped, for example because its schedule was paused. */
    SKIPPED,
    /** A tick that did not start in time. */
    MISSED;

    /** Returns the value used in SQL, logs and REST. */
    public String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Returns the state for a value of {@link #text()}. */
    public static RunState of(String text) {
        return valueOf(text.toUpperCase(Locale.ROOT).replace('-', '_'));
    }
}
