package io.carillon.internal.engine.stats;

import static java.util.Objects.requireNonNull;

import io.carillon.Stats.RunStats.Count;
import io.carillon.internal.store.stats.DurationHistogram;
import io.carillon.internal.store.stats.StatsRow;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/** The counts of one handler in one queue and one minute. Threads add without a lock; one thread reads. */
final class StatsCell {
    private final Map<Count, AtomicLong> counts = new EnumMap<>(Count.class);
    private final Durations lateness = new Durations();
    private final Durations waitTime = new Durations();
    private final Durations runTime = new Durations();
    private long written;

    StatsCell() {
        for (Count what : Count.values()) counts.put(what, new AtomicLong());
    }

    /** A histogram to which threads add. */
    static final class Durations {
        private final AtomicLong micros = new AtomicLong();
        private final AtomicLongArray buckets = new AtomicLongArray(DurationHistogram.BUCKETS);

        void add(long duration) {
            micros.getAndAdd(duration);
            buckets.getAndAdd(DurationHistogram.bucketOf(duration), 1);
        }

        private DurationHistogram read() {
            List<Long> read = new ArrayList<>();
            for (int i = 0; i < DurationHistogram.BUCKETS; i++) read.add(buckets.get(i));
            return new DurationHistogram(micros.get(), read);
        }
    }

    void add(Count what, long number) {
        requireNonNull(counts.get(what)).getAndAdd(number);
    }

    /** Returns how late ticks started. */
    Durations lateness() {
        return lateness;
    }

    /** Returns how long first attempts waited. */
    Durations waitTime() {
        return waitTime;
    }

    /** Returns how long attempts took. */
    Durations runTime() {
        return runTime;
    }

    /** Returns what was counted so far. */
    StatsRow row(StatsRow.Key key, long version) {
        Map<Count, Long> read = new EnumMap<>(Count.class);
        counts.forEach((what, number) -> {
            if (number.get() != 0) read.put(what, number.get());
        });
        return new StatsRow(
                key, version, read, new StatsRow.Durations(lateness.read(), waitTime.read(), runTime.read()));
    }

    /** Returns whether a row has more than the last one that this method was called with. */
    boolean isNew(StatsRow row) {
        long all = row.durations().lateness().count()
                + row.durations().waitTime().count()
                + row.durations().runTime().count();
        for (long number : row.counts().values()) all += number;
        if (all == written) return false;
        written = all;
        return true;
    }

    /** Makes the next row contain everything, because the last one could not be written. */
    void writeAgain() {
        written = -1;
    }
}
