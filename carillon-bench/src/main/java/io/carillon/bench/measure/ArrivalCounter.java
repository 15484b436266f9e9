package io.carillon.bench.measure;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/** Counts numbered jobs, each of which is expected once. Thread-safe. */
public final class ArrivalCounter {
    private final AtomicIntegerArray seen;
    private final AtomicInteger distinctCount = new AtomicInteger();
    private final AtomicInteger duplicateCount = new AtomicInteger();
    private volatile long firstNanos;

    public ArrivalCounter(int expected) {
        seen = new AtomicIntegerArray(expected);
    }

    /** Records the arrival of job {@code i}. */
    public void arrived(int i) {
        if (firstNanos == 0) firstNanos = System.nanoTime();
        if (seen.getAndIncrement(i) == 0) distinctCount.incrementAndGet();
        else duplicateCount.incrementAndGet();
    }

    /** Returns the number of different jobs that arrived. */
    public int distinct() {
        return distinctCount.get();
    }

    /** Returns the number of repeated arrivals. */
    public int duplicates() {
        return duplicateCount.get();
    }

    public int missing() {
        return seen.length() - distinctCount.get();
    }

    /** Returns the time of the first arrival on the monotonic clock. */
    public long firstNanos() {
        return firstNanos;
    }
}
