package io.carillon.spi;

/**
 * Receives the schedule changes that this process makes, and the planned instants that it records as missed or skipped.
 * Other processes notify their own listeners; the ledger contains the instants of all processes. An exception from a
 * listener is logged and otherwise ignored.
 */
@FunctionalInterface
public interface ScheduleListener {
    /** Called after an event is stored in the database. */
    void onScheduleEvent(ScheduleEvent event);

    /**
     * Returns whether this listener returns immediately, without waiting for locks or I/O. The engine then calls it on
     * its own threads and reports every event, also {@link ScheduleEvent.Planned}.
     */
    default boolean isNonBlocking() {
        return false;
    }
}
