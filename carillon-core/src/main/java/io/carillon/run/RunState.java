package io.carillon.run;

import java.util.Locale;

/** What a run is now. The first two live in the hot table; the others are final. */
public enum RunState {
    WAITING,
    RUNNING,
    SUCCEEDED,
    DEAD,
    CANCELLED,
    QUARANTINED,
    /** A tick that was not to run, such as of a paused schedule. */
    SKIPPED,
    /** A tick that nobody started in time. */
    MISSED;

    /** The word in SQL, logs and on the wire. */
    public String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Reads the word back. */
    public static RunState of(String text) {
        return valueOf(text.toUpperCase(Locale.ROOT).replace('-', '_'));
    }
}
