package io.carillon.server.store;

import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * How many waiting and running runs each project has, as this node knows it: the last count, and what this node has
 * added since. A request must not count a million runs, so the runs of a project are counted at most every five
 * seconds, earlier if the quota seems to be exceeded, and never for more than 2 % of the time. Several nodes may exceed
 * a quota together by what they add between two counts.
 */
public final class LiveRunEstimates {
    private static final long MAX_AGE_NANOS = Duration.ofSeconds(5).toNanos();
    /** How much longer than a count the time until the next one is. */
    private static final int PAUSE_FACTOR = 50;
    /** The longest time without a quota if the runs of a project cannot be counted. */
    private static final long MAX_PAUSE_AFTER_FAILURE = Duration.ofMinutes(1).toNanos();

    private static final int MAX_PROJECTS = 10_000;

    private final LongSupplier nanoTime;
    private final Map<String, Estimate> estimates = new ConcurrentHashMap<>();

    /** Creates estimates; {@code nanoTime} is {@link System#nanoTime}, except in tests. */
    public LiveRunEstimates(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Counts the runs of a project. */
    @FunctionalInterface
    public interface RunCount {
        long count() throws SQLException;
    }

    /** Adds runs to the estimate of a project. Returns false, and adds nothing, if there would be more than allowed. */
    public boolean tryAdd(String project, int more, long most, RunCount runCount) throws SQLException {
        if (estimates.size() > MAX_PROJECTS) estimates.clear();
        Estimate estimate = estimates.computeIfAbsent(project, name -> new Estimate());
        if (estimate.beginCount(more, most)) {
            long begun = nanoTime.getAsLong();
            boolean counted = false;
            try {
                estimate.set(runCount.count(), begun);
                counted = true;
            } finally {
                if (!counted) estimate.recordFailure(begun);
            }
        }
        return estimate.tryAdd(more, most);
    }

    /** Adds runs to the estimate of a project, whether or not they are allowed. */
    public void add(String project, int more) {
        Estimate estimate = estimates.get(project);
        if (estimate != null) estimate.add(more);
    }

    private final class Estimate {
        private long runs;
        private long countedNanos = nanoTime.getAsLong();
        private long pauseNanos;
        private boolean known;
        private boolean counting;

        /** Returns whether the caller must count. Other callers use the estimate meanwhile. */
        private synchronized boolean beginCount(int more, long most) {
            if (counting) return false;
            long age = nanoTime.getAsLong() - countedNanos;
            boolean due = age >= MAX_AGE_NANOS || runs + more > most;
            counting = (due || !known) && age >= pauseNanos;
            return counting;
        }

        private synchronized void set(long counted, long begun) {
            runs = counted;
            countedNanos = nanoTime.getAsLong();
            pauseNanos = (countedNanos - begun) * PAUSE_FACTOR;
            known = true;
            counting = false;
        }

        private synchronized void recordFailure(long begun) {
            countedNanos = nanoTime.getAsLong();
            pauseNanos = Math.min((countedNanos - begun) * PAUSE_FACTOR, MAX_PAUSE_AFTER_FAILURE);
            counting = false;
        }

        private synchronized boolean tryAdd(int more, long most) {
            if (runs + more > most) return false;
            runs += more;
            return true;
        }

        private synchronized void add(int more) {
            runs += more;
        }
    }
}
