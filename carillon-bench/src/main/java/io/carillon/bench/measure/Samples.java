package io.carillon.bench.measure;

import java.util.Arrays;
import java.util.List;

/** A set of measured values in order. Percentiles are values that were measured, never something between two of them. */
public final class Samples {
    private final double[] sorted;

    private Samples(double[] sorted) {
        this.sorted = sorted;
    }

    /** These values, in any order; at least one. */
    public static Samples of(double... values) {
        if (values.length == 0)
            throw new IllegalArgumentException("No samples: a figure needs at least one measured value.");
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return new Samples(sorted);
    }

    public static Samples of(List<Double> values) {
        return of(values.stream().mapToDouble(Double::doubleValue).toArray());
    }

    /** The smallest value that at least this part of all values does not exceed. */
    public double percentile(double percent) {
        if (percent < 0 || percent > 100)
            throw new IllegalArgumentException("percentile %s is outside 0..100".formatted(percent));
        int rank = (int) Math.ceil(percent / 100 * sorted.length);
        return sorted[Math.max(0, rank - 1)];
    }

    /** The middle value; of an even number the mean of the two in the middle. */
    public double median() {
        int half = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }

    public double least() {
        return sorted[0];
    }

    public double most() {
        return sorted[sorted.length - 1];
    }

    public int size() {
        return sorted.length;
    }
}
