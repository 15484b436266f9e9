package io.carillon.schedule;

import java.util.Locale;

/** What becomes of instants that nobody could start in time. */
public enum Missed {
    /** The latest of them runs once, late. */
    RUN_ONCE,
    /** All of them run, late: the latest up to a cap, at once or spread out. */
    RUN_ALL,
    /** None of them runs. */
    SKIP;

    /** The word in SQL, logs and on the wire. */
    public String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Reads the word back. */
    public static Missed of(String text) {
        return valueOf(text.toUpperCase(Locale.ROOT).replace('-', '_'));
    }
}
