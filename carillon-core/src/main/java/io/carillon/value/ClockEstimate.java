package io.carillon.value;

import java.time.Duration;
import java.time.Instant;

/**
 * An estimate of the database's time for processes whose own clock may be wrong: the last time that a statement returned, carried on by the monotonic clock. It
 * orders ids and bounds lists; what is due is decided in the database. Thread-safe.
 */
public final class ClockEstimate {
    private static final long FRESH_NANOS = Duration.ofSeconds(10).toNanos();

    private record Reading(Instant database, long nanos) {}

    private volatile Reading last = new Reading(
            Instant.ofEpochMilli(WallClock.millis()).minusNanos(2 * FRESH_NANOS), System.nanoTime() - 2 * FRESH_NANOS);

    /** Takes the time that a statement just returned. */
    public void observe(Instant database) {
        last = new Reading(database, System.nanoTime());
    }

    /** Returns about what the database's clock shows; before the first reading, what the machine's clock shows. */
    public Instant now() {
        Reading reading = last;
        return reading.database.plusNanos(System.nanoTime() - reading.nanos);
    }

    /** Tells whether the last reading is older than ten seconds, so that a clock that was set or drifts should be read again. */
    public boolean stale() {
        return System.nanoTime() - last.nanos > FRESH_NANOS;
    }
}
