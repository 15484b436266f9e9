package io.carillon.engine;

import io.carillon.value.WallClock;
import java.time.Duration;
import java.time.Instant;

/** The database's time, mapped to this machine's monotonic clock: the only "now" the engine sleeps by. It never decides what is due; the database does. */
final class DatabaseClock {
    private record Reading(Instant database, long nanos, long wallMillis) {}

    private volatile Reading last = new Reading(Instant.EPOCH, System.nanoTime(), 0);

    /** A statement just returned this time. */
    void observe(Instant database) {
        last = new Reading(database, System.nanoTime(), WallClock.millis());
    }

    /** About what the database's clock shows. */
    Instant now() {
        Reading reading = last;
        return reading.database.plusNanos(System.nanoTime() - reading.nanos);
    }

    /** How long until the database's clock shows this instant; negative: it has passed. */
    long nanosUntil(Instant instant) {
        Duration left = Duration.between(now(), instant);
        // Bounded both ways: instants of users may lie centuries off, and nanoseconds end after 292 years.
        if (left.isNegative()) return -1;
        return left.compareTo(Duration.ofDays(1)) > 0 ? Duration.ofDays(1).toNanos() : left.toNanos();
    }

    /** How far this machine's wall clock is ahead of the database's. Reported, never used. */
    Duration skew() {
        Reading reading = last;
        return reading.wallMillis == 0
                ? Duration.ZERO
                : Duration.ofMillis(reading.wallMillis - reading.database.toEpochMilli());
    }
}
