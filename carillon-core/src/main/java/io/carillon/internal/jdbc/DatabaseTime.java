package io.carillon.internal.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;

/**
 * The conversion of instants to PostgreSQL and back. {@link Instant#MAX} and {@link Instant#MIN} are its infinities.
 */
public final class DatabaseTime {
    /** The last instant that can be rounded; later ones become {@link Instant#MAX}. */
    private static final Instant LAST_ROUNDED = Instant.MAX.minusNanos(500);

    private DatabaseTime() {}

    static OffsetDateTime toDatabase(Instant instant) {
        if (instant.equals(Instant.MAX)) return OffsetDateTime.MAX;
        if (instant.equals(Instant.MIN)) return OffsetDateTime.MIN;
        return instant.atOffset(ZoneOffset.UTC);
    }

    static Instant fromDatabase(OffsetDateTime time) {
        if (time.equals(OffsetDateTime.MAX)) return Instant.MAX;
        if (time.equals(OffsetDateTime.MIN)) return Instant.MIN;
        return time.toInstant();
    }

    /** Rounds to the microsecond, as the driver and PostgreSQL do. */
    public static Instant rounded(Instant instant) {
        if (instant.isAfter(LAST_ROUNDED)) return Instant.MAX;
        return instant.plusNanos(500).truncatedTo(ChronoUnit.MICROS);
    }

    /** Returns the text form for arrays. */
    static String text(Instant instant) {
        if (instant.equals(Instant.MAX)) return "infinity";
        if (instant.equals(Instant.MIN)) return "-infinity";
        return instant.toString();
    }

    public static double seconds(Duration duration) {
        return duration.getSeconds() + duration.getNano() / 1e9;
    }

    public static Duration duration(double seconds) {
        return Duration.ofNanos(Math.round(seconds * 1e6) * 1000);
    }
}
