package io.carillon.internal.engine.claim;

import io.carillon.NodeConfig;
import io.carillon.internal.engine.attempt.Completer;
import io.carillon.internal.engine.attempt.ReadyQueue;
import io.carillon.internal.engine.attempt.Workers;
import io.carillon.internal.run.Lane;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Decides how many runs to claim, and when. As many as there are free slots and, if runs are short, as many as were
 * started recently, so that workers do not wait for the database after each small claim; it does not ask for runs that
 * would wait long for a slot. New work of lanes without backlog comes first, at most every other time. If runs become
 * due one by one, a claim waits briefly for more of them.
 */
public final class ClaimPacing {
    private static final long WINDOW_NANOS = 100_000_000L;
    private static final int MAX_UNWRITTEN = 5_000;
    private static final int MAX_NEW_LANE_CLAIM = 5;
    /**
     * How long to wait for more runs when runs become due one by one. A claim costs the same for one run as for ten.
     */
    private static final long GATHER_NANOS = Duration.ofMillis(2).toNanos();

    private final Workers workers;
    private final ReadyQueue queue;
    private final Completer completer;
    private final NodeConfig config;
    private final AtomicLong started = new AtomicLong();
    private long windowStart = System.nanoTime();
    private long startedAtWindowStart;
    private volatile int prefetch;
    private volatile boolean hintPending;
    /** New work arrived while this node had no capacity. It is claimed before the backlog when there is capacity. */
    private boolean newLanesPending;

    private boolean lastClaimedNewLanes;
    private boolean lastClaimPartial;
    private long lastClaim = System.nanoTime() - GATHER_NANOS;

    public ClaimPacing(Workers workers, ReadyQueue queue, Completer completer, NodeConfig config) {
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

    /** Records that a lane has new work. */
    void recordHint() {
        hintPending = true;
    }

    /** Returns whether a hint arrived that no claim has followed yet. */
    boolean isHintPending() {
        return hintPending;
    }

    /**
     * Returns how many runs to claim from lanes without backlog before all others, given the size of a claim; 0 if it
     * is the turn of the others.
     */
    int takeNewLaneTurn(int claimSize) {
        boolean due = (hintPending || (newLanesPending && claimSize > 0)) && !lastClaimedNewLanes;
        lastClaimedNewLanes = false;
        if (!due) return 0;
        hintPending = false;
        int size = claimSize > 0 ? claimSize : newLaneClaimSize();
        newLanesPending = size == 0;
        return size;
    }

    /**
     * Records a claim of lanes without backlog. The backlog is not exhausted, so the next claim does not wait, and
     * there may be more new work than this claim asked for.
     */
    void recordNewLaneClaim(long sent) {
        lastClaimedNewLanes = true;
        newLanesPending = true;
        lastClaimPartial = false;
        lastClaim = sent;
    }

    /** Records a claim. {@code partial} says that it got runs, but fewer than it asked for. */
    void recordClaim(long sent, boolean partial) {
        lastClaimPartial = partial;
        lastClaim = sent;
    }

    /** Returns how long the next claim waits for more runs. With a backlog it does not wait. */
    long gatherNanos() {
        return lastClaimPartial ? lastClaim + GATHER_NANOS - System.nanoTime() : 0;
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

    /** Returns whether this node has no slot for another run of this lane. */
    boolean isFull(Lane lane) {
        return workers.busySlots() >= config.concurrency() || queue.capacity(lane) == 0;
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
