package io.carillon.store;

import io.carillon.schedule.Schedule;
import java.util.List;

/** What an upsert did. */
public sealed interface ScheduleChange {
    Schedule schedule();

    /** What was stored as it is written and is probably not meant, such as a cron step beyond its field; mostly empty. */
    default List<String> warnings() {
        return schedule().definition().when().warnings();
    }

    record Created(Schedule schedule) implements ScheduleChange {}

    record Updated(Schedule schedule) implements ScheduleChange {}

    record Unchanged(Schedule schedule) implements ScheduleChange {}
}
