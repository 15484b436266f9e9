package io.carillon.internal.value;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import java.time.Instant;

/** The years in which schedules can be planned and paused: 1 to 9999. */
public final class Years {
    private static final Instant EARLIEST = Instant.parse("0001-01-01T00:00:00Z");
    public static final Instant LATEST = Instant.parse("9999-12-31T23:59:59Z");

    private Years() {}

    /** Rejects years that the database cannot store. */
    public static void check(String what, Instant at) {
        if (at.isBefore(EARLIEST) || at.isAfter(LATEST))
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION, "%s must be between the years 1 and 9999 (was %s).".formatted(what, at));
    }
}
