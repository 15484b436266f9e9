package io.carillon.internal.value;

/**
 * The only use of the system clock. It is for ids and displayed times; the database decides what is due and which node
 * holds a lease.
 */
public final class WallClock {
    private WallClock() {}

    /** Returns the milliseconds since the epoch. */
    public static long millis() {
        return System.currentTimeMillis();
    }
}
