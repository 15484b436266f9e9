package io.carillon.internal.engine.claim;

import io.carillon.NodeConfig;
import io.carillon.internal.engine.attempt.Completer;
import io.carillon.internal.engine.attempt.ReadyQueue;
import io.carillon.internal.engine.attempt.Workers;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Calculates how many runs to claim: as many as there are free slots and, if runs are short, as many as were started
 * recently, so that workers do not wait for the database after each small claim. It does not ask for runs that would
 * wait long for a slot.
 */
public final class ClaimSizer {
    private static final long WINDOW_NANOS = 100_000_000L;
    private static final int MAX_UNWRITTEN = 5_000;
    private static final int MAX_NEW_LANE_CLAIM = 5;

    private final Workers workers;
    private final ReadyQueue queue;
    private final Completer completer;
    private final NodeConfig config;
    private final AtomicLong started = new AtomicLong();
    private long windowStart = System.nanoTime();
    private long startedAtWindowStart;
    private volatile int prefetch;

    public ClaimSizer(Workers workers, ReadyQueue queue, Completer completer, NodeConfig config) {
        this.workers = workers;
        this.queue = queue;
        this.completer = completer;
        this.config = config;
    }

    /**
     * Divides a total into equal parts. The first keys get the remainder and are moved behind the others in the result.
     */
    static <K> Map<K, Integer> divideEqually(int total, Set<K> keys) {
        List<K> inOrder = List.copyOf(keys);
        int remainder = keys.isEmpty() ? 0 : total % keys.size();
        Map<K, Integer> parts = new LinkedHashMap<>();
        if (total >= keys.size())
            inOrder.subList(remainder, keys.size()).forEach(one -> parts.put(one, total / keys.size()));
        inOrder.subList(0, remainder).forEach(one -> parts.put(one, total / keys.size() + 1));
        return parts;
    }

    /** Counts an attempt that was started. */
    public void recordStart() {
        started.incrementAndGet();
    }

    /**
     * Returns the size of a claim for a lane with new work while {@link #claimSize} returns 0 because runs of other
     * lanes are queued. Returns 0 if slots rarely become free, because the run may start sooner on another node.
     */
    int newLaneClaimSize() {
        if (completer.backlog() > MAX_UNWRITTEN) return 0;
        int capacity = config.concurrency() + 2 * prefetch - queue.size();
        return Math.max(0, Math.min(capacity, Math.min(prefetch, MAX_NEW_LANE_CLAIM)));
    }

    /**
     * Returns how many runs this node may claim and start immediately if it holds only the given number of long runs.
     */
    int sizeBesideLongRuns(int longRuns) {
        return Math.max(0, Math.min(config.concurrency() - longRuns, config.maxClaimSize()));
    }

    /**
     * Sets whether slots stay free for other queues and projects. False while isolated runs execute, because nothing
     * else may be claimed then.
     */
    void reserveSlotsForOthers(boolean reserve) {
        queue.reserveSlotsForOthers(reserve);
    }

    /** Hands back the attempts that wait for a slot. */
    void handBackQueued() {
        queue.clear().forEach(completer::handBack);
    }

    /** Returns how many runs to claim. Only the claimer calls this. */
    int claimSize() {
        long now = System.nanoTime();
        if (now - windowStart >= WINDOW_NANOS) {
            long inWindow = started.get() - startedAtWindowStart;
            long elapsed = now - windowStart;
            prefetch = (int) Math.min(config.maxClaimSize(), inWindow * WINDOW_NANOS / elapsed);
            startedAtWindowStart = started.get();
            windowStart = now;
        }
        if (completer.backlog() > MAX_UNWRITTEN) return 0;
        int queued = queue.size();
        int free = Math.max(0, config.concurrency() - workers.busySlots());
        int capacity = free + prefetch - queued;
        // While enough runs are queued, small claims are wasteful: wait until half of the prefetch size is free.
        if (queued > 0 && capacity < prefetch / 2) return 0;
        return Math.max(0, Math.min(capacity, config.maxClaimSize()));
    }
}
