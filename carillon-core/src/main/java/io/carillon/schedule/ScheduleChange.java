package io.carillon.schedule;

import java.util.List;

/** The result of an upsert. */
public sealed interface ScheduleChange {
    Schedule schedule();

    /**
     * Returns warnings about a definition that is stored but probably not intended, such as a cron step larger than its
     * field. Usually empty.
     */
    default List<String> warnings() {
        return schedule().definition().when().warnings();
    }

    record Created(Schedule schedule) implements ScheduleChange {}

    record Updated(Schedule schedule) implements ScheduleChange {}

    record Unchanged(Schedule schedule) implements ScheduleChange {}
}
