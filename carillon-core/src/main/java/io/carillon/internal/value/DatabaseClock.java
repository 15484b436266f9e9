package io.carillon.internal.value;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;

/**
 * An estimate of the database clock, mapped to the monotonic clock of this machine, for processes whose own clock may
 * be wrong. The engine uses it to sleep, to order ids and to limit lists. It never decides what is due; the database
 * does. Thread-safe.
 *
 * <p>A reading was taken between the sending of its statement and the arrival of the answer, so it gives a lower and an
 * upper bound of the database clock. All readings are intersected, and the estimate is the lower bound: a slow answer
 * has wide bounds and changes nothing. Readings that contradict each other prove that a clock was set; then only the
 * newer one counts.
 */
public final class DatabaseClock {
    /** Two clocks may drift apart by one part in this many. */
    private static final long DRIFT = 10_000;

    /** A smaller step back is not reported, because it delays work by less than this. */
    private static final Duration STEP = Duration.ofSeconds(5);

    private static final long FRESH_NANOS = Duration.ofSeconds(10).toNanos();

    /**
     * At {@code nanos} the database clock was between {@code low} and {@code high}. {@code sent} is when the statement
     * of the newest reading was sent.
     */
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

    /**
     * Adds an action that runs when the database clock was set back. Instants that were read earlier may be far in the
     * future then.
     */
    public void onSetBack(Runnable action) {
        onSetBack.add(action);
    }

    /** Records that a statement sent at {@code sentNanos} has just returned this time of the database clock. */
    public void observe(Instant database, long sentNanos) {
        if (merge(database, sentNanos)) onSetBack.forEach(Runnable::run);
    }

    /** Returns whether the database clock was set back. */
    private synchronized boolean merge(Instant database, long sentNanos) {
        long now = nanoTime.getAsLong();
        long skew = WallClock.millis() - database.toEpochMilli();
        Instant low = database;
        Instant high = database.plusNanos(now - sentNanos);
        Bounds before = bounds;
        Instant lowBefore = before.low(now);
        Instant highBefore = before.high(now);
        if (!known || low.isAfter(highBefore) || high.isBefore(lowBefore)) {
            // This statement was sent before the reading that it contradicts, so that reading is newer.
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

    /** Returns the lower bound of the database clock; before the first reading, the system clock. */
    public Instant now() {
        return bounds.low(nanoTime.getAsLong());
    }

    /** Returns whether the last reading is older than 10 s, so that the clock should be read again. */
    public boolean isStale() {
        return !known || nanoTime.getAsLong() - bounds.nanos > FRESH_NANOS;
    }

    /** Returns the time until the database clock reaches this instant, at most one day, or -1 if it has passed. */
    public long nanosUntil(Instant instant) {
        Duration left = Duration.between(now(), instant);
        // Limited in both directions: instants of users may be centuries away, and a long overflows after 292
        // years of nanoseconds.
        if (left.isNegative()) return -1;
        return left.compareTo(Duration.ofDays(1)) > 0 ? Duration.ofDays(1).toNanos() : left.toNanos();
    }

    /** Returns how far the system clock is ahead of the database clock. For reports only. */
    public Duration skew() {
        return Duration.ofMillis(bounds.skewMillis);
    }
}
