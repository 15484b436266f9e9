package io.carillon.bench.measure;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/** Who was there, by number: each is expected once. Safe for all threads. */
public final class Roll {
    private final AtomicIntegerArray seen;
    private final AtomicInteger different = new AtomicInteger();
    private final AtomicInteger again = new AtomicInteger();
    private volatile long firstNanos;

    public Roll(int expected) {
        seen = new AtomicIntegerArray(expected);
    }

    /** Number {@code i} is here. */
    public void here(int i) {
        if (firstNanos == 0) firstNanos = System.nanoTime();
        if (seen.getAndIncrement(i) == 0) different.incrementAndGet();
        else again.incrementAndGet();
    }

    /** How many different ones were there. */
    public int present() {
        return different.get();
    }

    /** How often one came that had been there. */
    public int twice() {
        return again.get();
    }

    public int missing() {
        return seen.length() - different.get();
    }

    /** When the first came, on the monotonic clock. */
    public long firstNanos() {
        return firstNanos;
    }
}
