package io.carillon.internal.store.stats;

import io.carillon.Stats.RunStats;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The distribution of durations in fixed buckets. Bucket 0 has those up to 250 µs, and the upper bound of each further
 * bucket is twice that of the one before; the last one has all that are longer than 18 hours.
 *
 * @param micros the sum of the durations
 * @param buckets the number of durations in each bucket, without trailing zeros
 */
public record DurationHistogram(long micros, List<Long> buckets) {
    /** The number of buckets. */
    public static final int BUCKETS = 30;

    /** A histogram without durations. */
    public static final DurationHistogram EMPTY = new DurationHistogram(0, List.of());

    private static final long FIRST_BOUND_MICROS = 250;

    public DurationHistogram {
        int used = buckets.size();
        while (used > 0 && buckets.get(used - 1) == 0) used--;
        buckets = List.copyOf(buckets.subList(0, used));
    }

    /** Returns the bucket of a duration; the first one if it is negative. */
    public static int bucketOf(long micros) {
        if (micros <= FIRST_BOUND_MICROS) return 0;
        return Math.min(BUCKETS - 1, Long.SIZE - Long.numberOfLeadingZeros((micros - 1) / FIRST_BOUND_MICROS));
    }

    private static double upperMicros(int bucket) {
        return Math.scalb((double) FIRST_BOUND_MICROS, bucket);
    }

    /** Returns the sum of both histograms. */
    public DurationHistogram plus(DurationHistogram other) {
        List<Long> sum = new ArrayList<>();
        for (int i = 0; i < Math.max(buckets.size(), other.buckets.size()); i++) sum.add(at(i) + other.at(i));
        return new DurationHistogram(micros + other.micros, sum);
    }

    private long at(int bucket) {
        return bucket < buckets.size() ? buckets.get(bucket) : 0;
    }

    /** Returns the number of durations. */
    public long count() {
        long count = 0;
        for (long one : buckets) count += one;
        return count;
    }

    /** Returns the distribution as the API shows it. */
    public RunStats.Times times() {
        long count = count();
        if (count == 0) return RunStats.Times.NONE;
        return new RunStats.Times(count, duration((double) micros / count), at(0.5), at(0.95), at(0.99));
    }

    /** Returns a percentile: a value between the bounds of its bucket, as if the durations in it were spread evenly. */
    private Duration at(double part) {
        double rank = part * count();
        double before = 0;
        for (int i = 0; i < buckets.size(); i++) {
            long here = buckets.get(i);
            if (here > 0 && before + here >= rank) {
                double lower = i == 0 ? 0 : upperMicros(i - 1);
                return duration(lower + (upperMicros(i) - lower) * (rank - before) / here);
            }
            before += here;
        }
        return duration(upperMicros(BUCKETS - 1));
    }

    private static Duration duration(double micros) {
        return Duration.ofNanos(Math.round(micros * 1_000));
    }
}
