package io.carillon.run;

import java.util.Locale;

/** Where a run came from. */
public enum Origin {
    TICK,
    DIRECT,
    TRIGGER,
    BACKFILL,
    REDRIVE,
    EVENT,
    WORKFLOW;

    /** The word in SQL, logs and on the wire. */
    public String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Reads the word back. */
    public static Origin of(String text) {
        return valueOf(text.toUpperCase(Locale.ROOT).replace('-', '_'));
    }
}
