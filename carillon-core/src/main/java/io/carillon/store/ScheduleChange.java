package io.carillon.store;

import io.carillon.schedule.Schedule;

/** What an upsert did. */
public sealed interface ScheduleChange {
    Schedule schedule();

    record Created(Schedule schedule) implements ScheduleChange {}

    record Updated(Schedule schedule) implements ScheduleChange {}

    record Unchanged(Schedule schedule) implements ScheduleChange {}
}
