package io.carillon.bench.measure;

import java.util.Arrays;
import java.util.List;

/** A sorted set of measured values. Percentiles are measured values and never interpolated. */
public final class Samples {
    private final double[] sorted;

    private Samples(double[] sorted) {
        this.sorted = sorted;
    }

    /** Creates samples from at least one value, in any order. */
    public static Samples of(double... values) {
        if (values.length == 0) throw new IllegalArgumentException("Samples need at least one value.");
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return new Samples(sorted);
    }

    public static Samples of(List<Double> values) {
        return of(values.stream().mapToDouble(Double::doubleValue).toArray());
    }

    /** Returns the smallest measured value such that at least this percentage of all values does not exceed it. */
    public double percentile(double percent) {
        if (percent < 0 || percent > 100)
            throw new IllegalArgumentException("percent must be between 0 and 100 (was %s).".formatted(percent));
        int rank = (int) Math.ceil(percent / 100 * sorted.length);
        return sorted[Math.max(0, rank - 1)];
    }

    /** Returns the middle value; for an even number of values, the mean of the two middle values. */
    public double median() {
        int half = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }

    public double min() {
        return sorted[0];
    }

    public double max() {
        return sorted[sorted.length - 1];
    }

    public int size() {
        return sorted.length;
    }
}
