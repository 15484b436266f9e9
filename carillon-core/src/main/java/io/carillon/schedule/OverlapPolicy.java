package io.carillon.schedule;

import java.util.Locale;

/** What happens when a planned instant is due while an earlier run of the same schedule has not ended. */
public enum OverlapPolicy {
    /** Both runs execute. */
    ALLOW,
    /** The new run is skipped. */
    SKIP,
    /** The newest run waits; older waiting runs are skipped. */
    QUEUE_ONE,
    /** All runs wait, in order. */
    QUEUE_ALL,
    /** The earlier run is cancelled. */
    CANCEL_PREVIOUS;

    /** Returns the value used in SQL, logs and REST. */
    public String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Returns the policy for a value of {@link #text()}. */
    public static OverlapPolicy of(String text) {
        return valueOf(text.toUpperCase(Locale.ROOT).replace('-', '_'));
    }
}
