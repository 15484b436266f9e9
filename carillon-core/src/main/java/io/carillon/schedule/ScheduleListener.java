package io.carillon.schedule;

/**
 * Hears of what this process did to schedules, and of instants it found that will not run. Other processes tell their own listeners; the ledger has it all.
 * What a listener throws is logged and otherwise ignored.
 */
@FunctionalInterface
public interface ScheduleListener {
    /** Hears nothing. */
    ScheduleListener NONE = event -> {};

    void heard(ScheduleEvent event);

    /** Whether it only counts and returns at once: then it hears everything, on the engine's own threads. One that may wait for anything is not quick. */
    default boolean quick() {
        return false;
    }

    /** Tells both, and the second even if the first fails. */
    static ScheduleListener both(ScheduleListener first, ScheduleListener second) {
        if (first == NONE) return second;
        return event -> {
            try {
                first.heard(event);
            } finally {
                second.heard(event);
            }
        };
    }
}
