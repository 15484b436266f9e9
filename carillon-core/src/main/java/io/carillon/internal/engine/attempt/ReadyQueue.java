package io.carillon.internal.engine.attempt;

import io.carillon.internal.run.Lane;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Claimed attempts that wait for a slot. Projects take turns, and so do the lanes of a project: a long lane does not
 * delay a short one, and a project gets no more slots by having more queues.
 *
 * <p>One lane, and one project, gets at most 90 % of the slots; the rest stays free for others that may arrive. This
 * limit does not apply if the lane's runs are short, because others wait only briefly then. It also does not apply to a
 * lane if this node has handlers for one queue only and has seen no other lane for {@link #ALONE_AFTER}, and to a
 * project if the node has seen no other project for that time.
 */
public final class ReadyQueue {
    /** A run that takes at least this long is not short. */
    static final Duration SHORT_RUN_LIMIT = Duration.ofSeconds(1);

    /** If the node has seen no other lane for this long, a lane counts as alone. */
    static final Duration ALONE_AFTER = Duration.ofMinutes(1);

    /** How long a mixed lane has no capacity after an attempt of it was handed back. */
    static final Duration PAUSE = Duration.ofMillis(250);

    private static final int MAX_LANES = 1_000;

    private static final class LaneQueue {
        private final ProjectQueue project;
        private final ArrayDeque<ActiveAttempt> waiting = new ArrayDeque<>();
        /** Attempts that also need a slot for a transaction. */
        private final ArrayDeque<ActiveAttempt> transactional = new ArrayDeque<>();

        private int running;
        private int runningTransactions;
        /**
         * Whether an attempt of this lane needed a transaction. Later attempts probably need one too, unless the lane
         * is mixed.
         */
        private boolean hasTransactional;
        /** Whether an attempt of this lane needed no transaction. */
        private boolean hasNonTransactional;
        /** Until when a mixed lane has no capacity because an attempt was handed back; null if it has capacity. */
        private @Nullable Long pausedUntil;

        boolean isEmpty() {
            return waiting.isEmpty() && transactional.isEmpty();
        }
        /** Whether the run that ended last was short. False for a new lane, because nothing is known about its runs. */
        private boolean lastRunShort;
        /** When a run that was not short was last seen. */
        private long lastSlowAt;

        LaneQueue(ProjectQueue project, long lastSlowAt) {
            this.project = project;
            this.lastSlowAt = lastSlowAt;
        }
    }

    private static final class ProjectQueue {
        /** The lanes of this project with waiting attempts, in the order of their turns. */
        private final Deque<LaneQueue> turns = new ArrayDeque<>();

        private int waiting;
        private int running;
        private int laneCount;
    }

    private final Map<Lane, LaneQueue> lanes = new HashMap<>();
    private final Map<String, ProjectQueue> projects = new HashMap<>();
    /** The projects with waiting attempts, in the order of their turns. */
    private final Deque<ProjectQueue> turns = new ArrayDeque<>();
    /** The lanes that have their share of the slots or more. */
    private final Set<LaneQueue> lanesAtShare = new HashSet<>();

    private final Set<ProjectQueue> projectsAtShare = new HashSet<>();

    private final int slotShare;
    private final boolean hasSeveralQueues;
    private Predicate<ActiveAttempt> isTransactional = activeAttempt -> false;
    private int maxTransactions = Integer.MAX_VALUE;
    /** The number of transactional attempts that are running. */
    private int runningTransactions;

    private int waitingTransactions;
    private final LongSupplier nanoTime;
    private Consumer<Lane> onCapacity = lane -> {};
    private @Nullable Lane lastLane;
    private long lastOtherLaneAt;
    /** When another project was last seen. */
    private long lastOtherProjectAt;

    private int size;
    private boolean reservesSlots = true;
    private boolean closed;

    /** {@code hasSeveralQueues} says that this node has handlers for more than one queue. */
    public ReadyQueue(int slots, boolean hasSeveralQueues) {
        this(slots, hasSeveralQueues, System::nanoTime);
    }

    ReadyQueue(int slots, boolean hasSeveralQueues, LongSupplier nanoTime) {
        this.slotShare = Math.max(1, slots * 9 / 10);
        this.hasSeveralQueues = hasSeveralQueues;
        this.nanoTime = nanoTime;
        this.lastOtherLaneAt = nanoTime.getAsLong() - ALONE_AFTER.toNanos();
        this.lastOtherProjectAt = lastOtherLaneAt;
    }

    /**
     * Limits how many transactional attempts run at a time, so that attempts that wait for a connection do not
     * occupy slots. The same number may wait here; further ones are not claimed, or are handed back. Must be called
     * before the start.
     */
    public void limitTransactional(Predicate<ActiveAttempt> transactional, int max) {
        isTransactional = transactional;
        maxTransactions = max;
    }

    /** Sets whether 10 % of the slots stay free for other lanes and projects. */
    public synchronized void reserveSlotsForOthers(boolean reserve) {
        reservesSlots = reserve;
    }

    /** Sets the action that runs when a lane that had reached its limit has capacity again. */
    public void onCapacity(Consumer<Lane> action) {
        onCapacity = action;
    }

    /**
     * Adds claimed attempts and returns those that cannot start soon; after {@link #close} all of them. If {@code
     * ahead}, a lane without waiting or running attempts gets its first turn before the other lanes of its project, and
     * a project without waiting or running attempts before the other projects.
     */
    public synchronized List<ActiveAttempt> add(List<ActiveAttempt> claimed, boolean ahead) {
        if (closed) return List.copyOf(claimed);
        List<ActiveAttempt> tooMany = new ArrayList<>();
        for (ActiveAttempt activeAttempt : claimed) {
            boolean transactional = isTransactional.test(activeAttempt);
            LaneQueue laneQueue = laneQueue(activeAttempt);
            if (transactional) laneQueue.hasTransactional = true;
            else laneQueue.hasNonTransactional = true;
            if (transactional && waitingTransactions + runningTransactions >= 2L * maxTransactions) {
                laneQueue.pausedUntil = nanoTime.getAsLong() + PAUSE.toNanos();
                tooMany.add(activeAttempt);
                continue;
            }
            ProjectQueue project = laneQueue.project;
            if (laneQueue.isEmpty()) {
                if (project.turns.isEmpty()) {
                    if (ahead && project.running == 0) turns.addFirst(project);
                    else turns.addLast(project);
                }
                if (ahead && laneQueue.running == 0) project.turns.addFirst(laneQueue);
                else project.turns.addLast(laneQueue);
            }
            (transactional ? laneQueue.transactional : laneQueue.waiting).add(activeAttempt);
            project.waiting++;
            if (transactional) {
                activeAttempt.markTransactional();
                waitingTransactions++;
            }
            size++;
        }
        return tooMany;
    }

    /** Removes and returns the next attempt that may start, or returns null if there is none. */
    synchronized @Nullable public ActiveAttempt poll() {
        for (int rest = turns.size(); rest > 0; rest--) {
            ProjectQueue project = turns.remove();
            ActiveAttempt next = poll(project);
            if (!project.turns.isEmpty()) turns.add(project);
            if (next != null) return next;
        }
        return null;
    }

    private @Nullable ActiveAttempt poll(ProjectQueue project) {
        for (int rest = project.turns.size(); rest > 0; rest--) {
            LaneQueue laneQueue = project.turns.remove();
            boolean transactional = !laneQueue.transactional.isEmpty() && runningTransactions < maxTransactions;
            if (isFull(laneQueue) || (laneQueue.waiting.isEmpty() && !transactional)) {
                project.turns.add(laneQueue);
                continue;
            }
            // Steps that allocate memory come first: if one fails, no attempt has been removed yet.
            if (laneQueue.running + 1 >= slotShare) lanesAtShare.add(laneQueue);
            if (project.running + 1 >= slotShare) projectsAtShare.add(project);
            ActiveAttempt next = (transactional ? laneQueue.transactional : laneQueue.waiting).remove();
            if (transactional) {
                waitingTransactions--;
                runningTransactions++;
                laneQueue.runningTransactions++;
            }
            laneQueue.running++;
            project.running++;
            project.waiting--;
            size--;
            if (!laneQueue.isEmpty()) project.turns.add(laneQueue);
            return next;
        }
        return null;
    }

    /** Releases the slot of an attempt that was polled. */
    public void releaseSlot(ActiveAttempt activeAttempt) {
        if (releaseAndCheckFull(activeAttempt))
            onCapacity.accept(activeAttempt.attemptValue().lane());
    }

    private synchronized boolean releaseAndCheckFull(ActiveAttempt activeAttempt) {
        LaneQueue known = lanes.get(activeAttempt.attemptValue().lane());
        LaneQueue laneQueue = known == null ? laneQueue(activeAttempt) : known;
        boolean wasFull = isFull(laneQueue);
        if (activeAttempt.isTransactional()) {
            wasFull |= runningTransactions >= maxTransactions;
            runningTransactions--;
            laneQueue.runningTransactions--;
        }
        if (--laneQueue.running < slotShare) lanesAtShare.remove(laneQueue);
        if (--laneQueue.project.running < slotShare) projectsAtShare.remove(laneQueue.project);
        laneQueue.lastRunShort = activeAttempt.sinceStart().compareTo(SHORT_RUN_LIMIT) < 0;
        recordLane(activeAttempt.attemptValue().lane());
        if (lanes.size() > MAX_LANES && laneQueue.running == 0 && laneQueue.isEmpty()) {
            Lane lane = activeAttempt.attemptValue().lane();
            lanes.remove(lane);
            if (--laneQueue.project.laneCount == 0) projects.remove(lane.project());
        }
        return wasFull;
    }

    /** Records that a run of this lane is running and is not short. */
    public synchronized void recordSlowRun(Lane lane) {
        LaneQueue laneQueue = lanes.get(lane);
        if (laneQueue != null) laneQueue.lastSlowAt = nanoTime.getAsLong();
    }

    /** Returns how many more attempts of a lane this node may hold. */
    public synchronized int capacity(Lane lane) {
        recordLane(lane);
        LaneQueue laneQueue = lanes.get(lane);
        int capacity = capacityIgnoringTransactions(lane, laneQueue);
        if (laneQueue == null) return capacity;
        boolean allTransactional = laneQueue.hasTransactional && !laneQueue.hasNonTransactional;
        if (!allTransactional && laneQueue.pausedUntil != null) {
            if (laneQueue.pausedUntil - nanoTime.getAsLong() > 0) return 0;
            laneQueue.pausedUntil = null;
        }
        if (!allTransactional && laneQueue.runningTransactions == 0 && laneQueue.transactional.isEmpty())
            return capacity;
        return Math.max(0, (int) Math.min(capacity, 2L * maxTransactions - runningTransactions - waitingTransactions));
    }

    /** Like {@link #capacity}, but ignores the limit for transactional attempts. */
    private int capacityIgnoringTransactions(Lane lane, @Nullable LaneQueue laneQueue) {
        int left = projectCapacity(projects.get(lane.project()));
        if (laneQueue == null) return isOnlyLane() ? left : Math.min(left, slotShare);
        if (hasShortRuns(laneQueue)) return Integer.MAX_VALUE;
        int held = laneQueue.running + laneQueue.waiting.size() + laneQueue.transactional.size();
        return Math.max(0, isOnlyLane() ? left : Math.min(left, slotShare - held));
    }

    /** Returns how many more attempts of a project this node may hold if its runs are not short. */
    private int projectCapacity(@Nullable ProjectQueue project) {
        if (isOnlyProject()) return Integer.MAX_VALUE;
        return project == null ? slotShare : Math.max(0, slotShare - project.running - project.waiting);
    }

    /** Returns how many waiting attempts may start now. */
    public synchronized int size() {
        int startable = size;
        int free = Math.max(0, maxTransactions - runningTransactions);
        if (waitingTransactions > free) startable -= waitingTransactions - free;
        for (LaneQueue laneQueue : lanesAtShare) if (isFull(laneQueue)) startable -= laneQueue.waiting.size();
        if (!isOnlyProject())
            for (ProjectQueue project : projectsAtShare)
                for (LaneQueue laneQueue : project.turns)
                    if (!lanesAtShare.contains(laneQueue) && isFull(laneQueue)) startable -= laneQueue.waiting.size();
        return Math.max(0, startable);
    }

    /** Rejects all attempts from now on, because a claim may return after this call. Returns the waiting attempts. */
    public synchronized List<ActiveAttempt> close() {
        closed = true;
        return clear();
    }

    /** Removes and returns all attempts, so that the caller can hand them back. */
    public synchronized List<ActiveAttempt> clear() {
        List<ActiveAttempt> all = new ArrayList<>();
        for (ProjectQueue project : turns) {
            for (LaneQueue laneQueue : project.turns) {
                all.addAll(laneQueue.waiting);
                all.addAll(laneQueue.transactional);
                laneQueue.waiting.clear();
                laneQueue.transactional.clear();
            }
            project.turns.clear();
            project.waiting = 0;
        }
        turns.clear();
        waitingTransactions = 0;
        size = 0;
        return all;
    }

    private LaneQueue laneQueue(ActiveAttempt activeAttempt) {
        Lane lane = activeAttempt.attemptValue().lane();
        recordLane(lane);
        return lanes.computeIfAbsent(lane, l -> {
            ProjectQueue projectQueue = projects.computeIfAbsent(lane.project(), project -> new ProjectQueue());
            projectQueue.laneCount++;
            return new LaneQueue(projectQueue, nanoTime.getAsLong() - SHORT_RUN_LIMIT.toNanos());
        });
    }

    private void recordLane(Lane lane) {
        Lane before = lastLane;
        if (lane.equals(before)) return;
        lastLane = lane;
        if (before == null) return;
        lastOtherLaneAt = nanoTime.getAsLong();
        if (!lane.project().equals(before.project())) lastOtherProjectAt = lastOtherLaneAt;
    }

    private boolean isFull(LaneQueue laneQueue) {
        if (!reservesSlots || hasShortRuns(laneQueue)) return false;
        return (laneQueue.running >= slotShare && !isOnlyLane())
                || (laneQueue.project.running >= slotShare && !isOnlyProject());
    }

    private boolean hasShortRuns(LaneQueue laneQueue) {
        return laneQueue.lastRunShort && nanoTime.getAsLong() - laneQueue.lastSlowAt >= SHORT_RUN_LIMIT.toNanos();
    }

    private boolean isOnlyProject() {
        return nanoTime.getAsLong() - lastOtherProjectAt >= ALONE_AFTER.toNanos();
    }

    private boolean isOnlyLane() {
        return !hasSeveralQueues && nanoTime.getAsLong() - lastOtherLaneAt >= ALONE_AFTER.toNanos();
    }
}
