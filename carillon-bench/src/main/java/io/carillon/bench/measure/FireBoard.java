package io.carillon.bench.measure;

import java.time.Instant;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Planned instants on an even grid, each expected to fire once, and how late each was. Because the schedules are spread evenly, an instant names one fire.
 */
public final class FireBoard {
    private final long firstNanos;
    private final long stepNanos;
    private final AtomicIntegerArray fired;
    private final long[] late;

    /** So many instants from the first on, a step apart. */
    public FireBoard(Instant first, long stepNanos, int instants) {
        this.firstNanos = ServerTime.nanos(first);
        this.stepNanos = stepNanos;
        this.fired = new AtomicIntegerArray(instants);
        this.late = new long[instants];
    }

    /** A handler started; what was planned outside the grid does not count. */
    public void fired(Instant planned, long startedNanos) {
        long plannedNanos = ServerTime.nanos(planned);
        long slot = Math.floorDiv(plannedNanos - firstNanos + stepNanos / 2, stepNanos);
        if (slot < 0 || slot >= late.length) return;
        // Before the counter: whoever sees the fire sees how late it was.
        if (fired.get((int) slot) == 0) late[(int) slot] = startedNanos - plannedNanos;
        fired.getAndIncrement((int) slot);
    }

    public int size() {
        return late.length;
    }

    /** How many instants of this part did not fire. */
    public int missing(int from, int to) {
        int missing = 0;
        for (int i = from; i < to; i++) if (fired.get(i) == 0) missing++;
        return missing;
    }

    /** How many fires of this part were one too many. */
    public int twice(int from, int to) {
        int twice = 0;
        for (int i = from; i < to; i++) twice += Math.max(0, fired.get(i) - 1);
        return twice;
    }

    /** Milliseconds between plan and start, of those that fired. */
    public Samples lateMillis(int from, int to) {
        double[] millis = new double[to - from];
        int count = 0;
        for (int i = from; i < to; i++) if (fired.get(i) > 0) millis[count++] = late[i] / 1e6;
        return Samples.of(count == 0 ? new double[] {Double.POSITIVE_INFINITY} : Arrays.copyOf(millis, count));
    }
}
