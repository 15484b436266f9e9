package io.carillon.value;

/** The one home of the machine's wall clock. It seeds ids and tells people the time; what is due and who holds a lease is the database's word. */
public final class WallClock {
    private WallClock() {}

    /** Milliseconds since the epoch. */
    public static long millis() {
        return System.currentTimeMillis();
    }
}
