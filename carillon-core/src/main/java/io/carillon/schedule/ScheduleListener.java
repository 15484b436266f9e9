package io.carillon.schedule;

/**
 * Hears of what this process did to schedules, and of instants it found that will not run. Other processes tell their own listeners; the ledger has it all.
 * What a listener throws is logged and otherwise ignored.
 */
@FunctionalInterface
public interface ScheduleListener {
    void heard(ScheduleEvent event);

    /** Hears nothing. */
    static ScheduleListener none() {
        return event -> {};
    }
}
