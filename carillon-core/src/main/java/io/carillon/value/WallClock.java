package io.carillon.value;

/** The one home of the machine's wall clock. It only seeds ids; what is due and who holds a lease is the database's word. */
public final class WallClock {
    private WallClock() {}

    /** Milliseconds since the epoch, for the time part of new ids. */
    public static long millis() {
        return System.currentTimeMillis();
    }
}
