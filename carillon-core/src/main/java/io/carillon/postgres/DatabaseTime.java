package io.carillon.postgres;

import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;

/** Instants on their way to PostgreSQL and back. {@link Instant#MAX} and {@link Instant#MIN} are its infinities. */
final class DatabaseTime {
    /** Nothing lies above it that later instants could be rounded to. */
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

    /** To the microsecond, as the driver and PostgreSQL round. */
    static Instant rounded(Instant instant) {
        if (instant.isAfter(LAST_ROUNDED)) return Instant.MAX;
        return instant.plusNanos(500).truncatedTo(ChronoUnit.MICROS);
    }

    /** The text form for arrays. */
    static String text(Instant instant) {
        if (instant.equals(Instant.MAX)) return "infinity";
        if (instant.equals(Instant.MIN)) return "-infinity";
        return instant.toString();
    }

    static double seconds(Duration duration) {
        return duration.getSeconds() + duration.getNano() / 1e9;
    }

    static Duration duration(double seconds) {
        return Duration.ofNanos(Math.round(seconds * 1e6) * 1000);
    }
}
