package io.carillon.schedule;

import java.util.Locale;

/** What happens to planned instants that could not start in time. */
public enum MissedPolicy {
    /** The latest missed instant runs once, late. */
    RUN_ONCE,
    /** The latest missed instants run late, up to a cap, all immediately or spread over time. */
    RUN_ALL,
    /** No missed instant runs. */
    SKIP;

    /** Returns the value used in SQL, logs and REST. */
    public String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Returns the policy for a value of {@link #text()}. */
    public static MissedPolicy of(String text) {
        return valueOf(text.toUpperCase(Locale.ROOT).replace('-', '_'));
    }
}
