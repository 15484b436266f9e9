package io.carillon.run;

import java.util.Locale;

/** How a run was created. */
public enum Origin {
    /** A planned instant of a schedule. */
    TICK,
    /** An enqueue by the application. */
    DIRECT,
    /** A manual trigger of a schedule. */
    TRIGGER,
    /** A past planned instant, created by a backfill. */
    BACKFILL,
    /** A dead run that was started again. */
    REDRIVE,
    /** A subscription to an event. */
    EVENT,
    /** A workflow. */
    WORKFLOW;

    /** Returns the value used in SQL, logs and REST. */
    public String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Returns the origin for a value of {@link #text()}. */
    public static Origin of(String text) {
        return valueOf(text.toUpperCase(Locale.ROOT).replace('-', '_'));
    }
}
