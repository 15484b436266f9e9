package io.carillon.spi;

/**
 * Receives the schedule changes that this process makes, and the planned instants that it records as missed or skipped.
 * Other processes notify their own listeners; the ledger contains the instants of all processes. An exception from a
 * listener is logged and otherwise ignored.
 */
@FunctionalInterface
public interface ScheduleListener {
    /** A listener that ignores all events. */
    ScheduleListener NONE = event -> {};

    /** Called after an event is stored in the database. */
    void onScheduleEvent(ScheduleEvent event);

    /**
     * Returns whether this listener returns immediately, without waiting for locks or I/O. The engine then calls it on
     * its own threads and reports every event.
     */
    default boolean isNonBlocking() {
        return false;
    }

    /** Returns a listener that calls both listeners, the second even if the first throws. */
    static ScheduleListener combine(ScheduleListener first, ScheduleListener second) {
        if (first == NONE) return second;
        return event -> {
            try {
                first.onScheduleEvent(event);
            } finally {
                second.onScheduleEvent(event);
            }
        };
    }
}
