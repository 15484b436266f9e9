package io.carillon.schedule;

import io.carillon.internal.value.PublicId;
import io.carillon.internal.value.Uuid7;
import java.util.UUID;

/** The id of a schedule. A name can be reused after a delete; an id is never reused. */
public record ScheduleId(UUID value) {
    private static final String PREFIX = "sched";

    /** Returns a new id. */
    public static ScheduleId generate() {
        return new ScheduleId(Uuid7.next());
    }

    @Override
    public String toString() {
        return PublicId.format(PREFIX, value);
    }
}
