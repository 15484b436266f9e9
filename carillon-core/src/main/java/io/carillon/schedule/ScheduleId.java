package io.carillon.schedule;

import io.carillon.value.PublicId;
import io.carillon.value.Uuid7;
import java.util.UUID;

/** The id of a schedule. Names may be reused after a delete; ids never are. */
public record ScheduleId(UUID value) {
    private static final String PREFIX = "sched";

    /** A new id. */
    public static ScheduleId next() {
        return new ScheduleId(Uuid7.next());
    }

    @Override
    public String toString() {
        return PublicId.format(PREFIX, value);
    }
}
