package io.carillon.internal.value;

import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;

/** Calendar dates as instants. */
public final class Dates {
    private Dates() {}

    /**
     * Returns the last instant of the date in this time zone, but not before the instant itself: if the clock goes back
     * over midnight, the date starts twice.
     */
    public static Instant endOfDay(Instant at, ZoneId zone) {
        LocalDate date = LocalDate.ofInstant(at, zone);
        Instant last = date.plusDays(1).atStartOfDay(zone).toInstant().minusNanos(1);
        return last.isAfter(at) ? last : at;
    }
}
