package io.carillon.value;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;

/**
 * The database's time, mapped to this machine's monotonic clock, for processes whose own clock may be wrong. The engine sleeps by it, ids are ordered and lists
 * bounded by it. It never decides what is due; the database does. Thread-safe.
 *
 * <p>A reading was taken somewhere between the sending of its statement and the arrival of the answer, so it bounds the database clock on both sides. All
 * readings are intersected, and the estimate is the lower bound: a slow answer only widens its own bounds and moves nothing. Readings that contradict each
 * other prove that a clock was set; then the newer one counts alone.
 */
public final class DatabaseClock {
    /** Two clocks may run apart by one part in so many. */
    private static final long DRIFT = 10_000;

    /** A smaller step back delays work by less than this, and is not reported. */
    private static final Duration STEP = Duration.ofSeconds(5);

    private static final long FRESH_NANOS = Duration.ofSeconds(10).toNanos();

    /** At {@code nanos} the database clock showed at least {@code low} and at most {@code high}; {@code sent}: when the newest reading was asked for. */
    private record Bounds(Instant low, Instant high, long nanos, long sent, long skewMillis) {
        Instant low(long now) {
            return low.plusNanos(now - nanos - (now - nanos) / DRIFT);
        }

        Instant high(long now) {
            return high.plusNanos(now - nanos + (now - nanos) / DRIFT);
        }
    }

    private final LongSupplier nanoTime;
    private volatile Bounds bounds;
    private volatile boolean known;
    private final List<Runnable> onSetBack = new CopyOnWriteArrayList<>();

    public DatabaseClock() {
        this(System::nanoTime);
    }

    DatabaseClock(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        long now = nanoTime.getAsLong();
        Instant machine = Instant.ofEpochMilli(WallClock.millis());
        this.bounds = new Bounds(machine, machine, now, now, 0);
    }

    /** Adds what to do when the database clock was set back: instants that were read from it earlier may lie far ahead. */
    public void onSetBack(Runnable action) {
        onSetBack.add(action);
    }

    /** A statement sent at {@code sentNanos} has just returned this time of the database clock. */
    public void observe(Instant database, long sentNanos) {
        if (merged(database, sentNanos)) onSetBack.forEach(Runnable::run);
    }

    /** Returns whether the database clock was set back. */
    private synchronized boolean merged(Instant database, long sentNanos) {
        long now = nanoTime.getAsLong();
        long skew = WallClock.millis() - database.toEpochMilli();
        Instant low = database;
        Instant high = database.plusNanos(now - sentNanos);
        Bounds before = bounds;
        Instant lowBefore = before.low(now);
        Instant highBefore = before.high(now);
        if (!known || low.isAfter(highBefore) || high.isBefore(lowBefore)) {
            // Asked before the reading it contradicts: that one knows better.
            if (known && sentNanos - before.sent < 0) return false;
            bounds = new Bounds(low, high, now, sentNanos, skew);
            boolean setBack = known && high.isBefore(lowBefore.minus(STEP));
            known = true;
            return setBack;
        }
        bounds = new Bounds(
                low.isAfter(lowBefore) ? low : lowBefore,
                high.isBefore(highBefore) ? high : highBefore,
                now,
                Math.max(sentNanos - before.sent, 0) + before.sent,
                skew);
        return false;
    }

    /** Returns what the database clock shows at least; before the first reading, what the machine's clock shows. */
    public Instant now() {
        return bounds.low(nanoTime.getAsLong());
    }

    /** Tells whether the last reading is older than ten seconds, so that a clock that was set or drifts should be read again. */
    public boolean stale() {
        return !known || nanoTime.getAsLong() - bounds.nanos > FRESH_NANOS;
    }

    /** Returns how long until the database's clock shows this instant; negative: it has passed. */
    public long nanosUntil(Instant instant) {
        Duration left = Duration.between(now(), instant);
        // Bounded both ways: instants of users may lie centuries off, and nanoseconds end after 292 years.
        if (left.isNegative()) return -1;
        return left.compareTo(Duration.ofDays(1)) > 0 ? Duration.ofDays(1).toNanos() : left.toNanos();
    }

    /** Returns how far this machine's wall clock is ahead of the database's. Reported, never used. */
    public Duration skew() {
        return Duration.ofMillis(bounds.skewMillis);
    }
}
