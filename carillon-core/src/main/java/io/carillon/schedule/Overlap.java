package io.carillon.schedule;

import java.util.Locale;

/** What happens when an instant falls due while an earlier run of the same schedule has not ended. */
public enum Overlap {
    /** Both run. */
    ALLOW,
    /** The new one is skipped. */
    SKIP,
    /** The newest one waits. */
    QUEUE_ONE,
    /** All wait, in order. */
    QUEUE_ALL,
    /** The earlier one is cancelled. */
    CANCEL_PREVIOUS;

    /** The word in SQL, logs and on the wire. */
    public String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Reads the word back. */
    public static Overlap of(String text) {
        return valueOf(text.toUpperCase(Locale.ROOT).replace('-', '_'));
    }
}
