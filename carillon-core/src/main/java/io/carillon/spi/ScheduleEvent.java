package io.carillon.spi;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A change of a schedule, ticks that were planned, or planned instants that do not run. Reported after it is stored in
 * the database. Later versions may add events.
 */
public sealed interface ScheduleEvent {
    /** Returns the project of the schedule. */
    String project();

    /** Returns the name of the schedule. */
    String schedule();

    /** The schedule was created. */
    record Created(String project, String schedule) implements ScheduleEvent {}

    /** The definition of the schedule was changed. */
    record Changed(String project, String schedule, long version) implements ScheduleEvent {}

    /**
     * The schedule was paused, by a user or automatically.
     *
     * @param by the person or program that paused the schedule
     * @param reason null if unknown
     * @param until when the schedule resumes automatically; null if it does not
     */
    record Paused(
            String project,
            String schedule,
            String by,
            @Nullable String reason,
            @Nullable Instant until) implements ScheduleEvent {}

    /** The schedule was resumed. */
    record Resumed(String project, String schedule) implements ScheduleEvent {}

    /** The schedule was deleted, with its waiting ticks. */
    record Deleted(String project, String schedule) implements ScheduleEvent {}

    /** Planned instants were not started in time, and the missed policy does not run them. */
    record Missed(String project, String schedule, io.carillon.schedule.MissedPolicy policy, AffectedInstants instants)
            implements ScheduleEvent {}

    /**
     * Planned instants were skipped because of an overlap or an excluded date. Instants within a pause are
     * not reported individually.
     */
    record Skipped(String project, String schedule, AffectedInstants instants) implements ScheduleEvent {}

    /**
     * Ticks of the schedule were stored. Reported to non-blocking listeners only.
     *
     * @param ticks how many ticks were stored
     */
    record Planned(String project, String schedule, int ticks) implements ScheduleEvent {}

    /** One planned instant, or several with the same reason, both ends inclusive. */
    record AffectedInstants(Instant from, Instant to, long count, String reason) {
        /** Returns a value for a single instant. */
        public static AffectedInstants single(Instant at, String reason) {
            return new AffectedInstants(at, at, 1, reason);
        }

        /** Returns the range that contains both, with the reason of this one. */
        public AffectedInstants merge(AffectedInstants more) {
            return new AffectedInstants(
                    from.isBefore(more.from) ? from : more.from,
                    to.isAfter(more.to) ? to : more.to,
                    count + more.count,
                    reason);
        }
    }
}
