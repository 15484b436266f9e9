package io.carillon.bench.measure;

import java.time.Instant;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * The lateness of planned instants on an even grid, each of which is expected to fire once. The schedules are spread
 * evenly, so that an instant identifies one fire.
 */
public final class FireLatencies {
    private final long firstNanos;
    private final long stepNanos;
    private final AtomicIntegerArray fired;
    private final long[] late;

    /**
     * Creates a grid.
     *
     * @param first the first instant
     * @param stepNanos the distance between two instants
     * @param instants the number of instants
     */
    public FireLatencies(Instant first, long stepNanos, int instants) {
        this.firstNanos = ServerTime.nanos(first);
        this.stepNanos = stepNanos;
        this.fired = new AtomicIntegerArray(instants);
        this.late = new long[instants];
    }

    /** Records the start of a handler. Instants outside the grid are ignored. */
    public void fired(Instant planned, long startedNanos) {
        long plannedNanos = ServerTime.nanos(planned);
        long slot = Math.floorDiv(plannedNanos - firstNanos + stepNanos / 2, stepNanos);
        if (slot < 0 || slot >= late.length) return;
        // Written before the counter: a thread that sees the fire also sees its lateness.
        if (fired.get((int) slot) == 0) late[(int) slot] = startedNanos - plannedNanos;
        fired.getAndIncrement((int) slot);
    }

    public int size() {
        return late.length;
    }

    /** Returns the number of instants in this range that did not fire. */
    public int missing(int from, int to) {
        int missing = 0;
        for (int i = from; i < to; i++) if (fired.get(i) == 0) missing++;
        return missing;
    }

    /** Returns the number of repeated fires in this range. */
    public int duplicates(int from, int to) {
        int twice = 0;
        for (int i = from; i < to; i++) twice += Math.max(0, fired.get(i) - 1);
        return twice;
    }

    /** Returns the milliseconds from planned instant to start, for the instants in this range that fired. */
    public Samples lateMillis(int from, int to) {
        double[] millis = new double[to - from];
        int count = 0;
        for (int i = from; i < to; i++) if (fired.get(i) > 0) millis[count++] = late[i] / 1e6;
        return Samples.of(count == 0 ? new double[] {Double.POSITIVE_INFINITY} : Arrays.copyOf(millis, count));
    }
}
