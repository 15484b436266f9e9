package io.carillon.internal.engine;

import io.carillon.internal.engine.listener.LoopReports;
import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.engine.node.ClusterSize;
import io.carillon.internal.store.run.GateName;
import io.carillon.internal.store.run.GateStore;
import io.carillon.internal.value.DatabaseClock;
import io.carillon.spi.ScheduleListener;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Promotes parked runs through their gates: when a signal says that a run arrived or ended, when a run becomes due, and
 * by periodic scans that find what a crash left unreported. Every node does this; a lock on the gate lets one node at
 * a time promote.
 */
final class GatePromoter implements Loop.Task {
    private final Loop loop = new Loop("gate", true, this);
    private static final int MAX_GATES = 2_000;
    private static final Duration CHECK_INTERVAL = Duration.ofSeconds(1);
    private static final Duration SCAN_INTERVAL = Duration.ofSeconds(2);
    private static final Duration MAX_INTERVAL = Duration.ofSeconds(20);
    /** The first wait for a busy gate. It doubles while the gate stays busy. */
    private static final long FIRST_BUSY_WAIT_NANOS = 3_000_000L;

    private static final long MAX_BUSY_WAIT_NANOS = 1_000_000_000L;
    /** Scans use at most one part in this many of the time. */
    private static final int SCAN_COST_RATIO = 20;

    private final GateStore gates;
    private final DatabaseClock clock;
    private final ClusterSize clusterSize;
    private final LoopReports reports;
    private final ScheduleListener scheduleListener;
    private final Set<GateName> requests = new LinkedHashSet<>();
    /** When to check a time-based gate, or a gate that was busy, again. */
    private final Map<GateName, Long> timers = new HashMap<>();
    /** The last wait for each gate that is still busy. */
    private final Map<GateName, Long> busyWaits = new HashMap<>();

    private volatile boolean checkRequested = true;
    private volatile boolean gatesExist = true;
    private Set<GateName> inProgress = Set.of();
    private volatile Instant nextArrival = Instant.MAX;
    private long lastCheck = System.nanoTime();
    private long nextScan = lastCheck;
    private @Nullable GateName scanCursor;

    GatePromoter(
            GateStore gates,
            DatabaseClock clock,
            ClusterSize clusterSize,
            LoopReports reports,
            ScheduleListener scheduleListener) {
        this.gates = gates;
        this.clock = clock;
        this.clusterSize = clusterSize;
        this.reports = reports;
        this.scheduleListener = scheduleListener;
    }

    /** Requests promotion because a run arrived at this gate or left it. */
    void requestPromotion(GateName gate) {
        addRequests(List.of(gate));
        loop.wake();
    }

    /** Requests promotion because a run with this gate has ended. A time-based gate does not depend on that. */
    void runEnded(GateName gate) {
        if (!gate.isTimeBased()) requestPromotion(gate);
    }

    /** Records that a run arrives at some gate at this instant. */
    void expectArrival(Instant arrival) {
        if (!arrival.isBefore(nextArrival)) return;
        nextArrival = arrival;
        loop.wake();
    }

    /** Sets whether any gate exists, as read by the claimer's poll. While none exists, there are no scans. */
    void setGatesExist(boolean exist) {
        boolean appeared = exist && !gatesExist;
        gatesExist = exist;
        if (appeared) checkNow();
    }

    /** Checks all gates soon. */
    void checkNow() {
        checkRequested = true;
        loop.wake();
    }

    private void addRequests(Collection<GateName> more) {
        synchronized (requests) {
            requests.addAll(more);
        }
    }

    /** Returns the thread that repeats this task. */
    Loop loop() {
        return loop;
    }

    @Override
    public void runRound() throws InterruptedException {
        inProgress = takeRequests();
        // A run of these gates ended or arrived. Another node that holds the gate's lock may not have seen it.
        busyWaits.keySet().removeAll(inProgress);
        inProgress.addAll(takeDueTimers());
        boolean checkAll = checkRequested;
        checkRequested = false;
        if (checkAll || isCheckDue()) inProgress.addAll(readArrivals());
        if (checkAll || (gatesExist && System.nanoTime() - nextScan >= 0)) inProgress.addAll(scan());
        scheduleBusyRetry(promote(inProgress));
        inProgress = Set.of();
        loop.sleep(nanosUntilDue());
    }

    /**
     * Schedules the next check of busy gates. The wait grows: another node locks a gate only briefly, but a run may
     * stay locked for long.
     */
    private void scheduleBusyRetry(List<GateName> busy) {
        busy.forEach(inProgress::remove);
        busyWaits.keySet().removeAll(inProgress);
        long now = System.nanoTime();
        for (GateName gate : busy) {
            long wait = busyWaits.merge(
                    gate, FIRST_BUSY_WAIT_NANOS, (last, first) -> Math.min(last * 2, MAX_BUSY_WAIT_NANOS));
            timers.merge(gate, now + wait, (one, other) -> one - other < 0 ? one : other);
        }
    }

    /** Keeps the requests of the failed round and checks all gates in the next one. */
    @Override
    public void onFailure(Throwable failure) {
        addRequests(inProgress);
        inProgress = Set.of();
        checkRequested = true;
    }

    /** Promotes everything that can pass now, once. For callers that do not run this loop. */
    void promoteOnce() {
        Set<GateName> all = new LinkedHashSet<>(readArrivals());
        do all.addAll(scan());
        while (scanCursor != null);
        promote(all);
    }

    /** Promotes at the requested gates, once. For callers that do not run this loop. */
    void promoteRequests() {
        promote(takeRequests());
    }

    private Set<GateName> takeRequests() {
        synchronized (requests) {
            Set<GateName> mine = new LinkedHashSet<>(requests);
            requests.clear();
            return mine;
        }
    }

    /** Removes and returns the gates whose timer has expired. */
    private Set<GateName> takeDueTimers() {
        long now = System.nanoTime();
        Set<GateName> due = new LinkedHashSet<>();
        timers.forEach((gate, at) -> {
            if (now - at >= 0) due.add(gate);
        });
        timers.keySet().removeAll(due);
        return due;
    }

    private boolean isCheckDue() {
        return (gatesExist && System.nanoTime() - lastCheck >= checkInterval().toNanos())
                || clock.nanosUntil(nextArrival) <= 0;
    }

    private Duration checkInterval() {
        return clusterSize.scaledInterval(CHECK_INTERVAL, MAX_INTERVAL);
    }

    private long nanosUntilDue() {
        long now = System.nanoTime();
        long untilTimer =
                timers.values().stream().mapToLong(at -> at - now).min().orElse(Long.MAX_VALUE);
        long untilCheck = lastCheck + checkInterval().toNanos() - now;
        // Wake slightly late: before the database clock reaches the instant, the run has not arrived.
        long untilArrival = clock.nanosUntil(nextArrival) + 200_000L;
        if (!gatesExist)
            return Math.max(
                    0,
                    Math.min(
                            Math.min(untilTimer, untilArrival),
                            Duration.ofMinutes(1).toNanos()));
        return Math.max(0, Math.min(Math.min(untilCheck, untilArrival), Math.min(untilTimer, nextScan - now)));
    }

    private List<GateName> readArrivals() {
        long sent = System.nanoTime();
        GateStore.Arrivals arrivals = gates.findArrivals(MAX_GATES);
        lastCheck = System.nanoTime();
        clock.observe(arrivals.now(), sent);
        nextArrival = arrivals.gates().size() < MAX_GATES ? arrivals.next() : arrivals.now();
        return arrivals.gates();
    }

    private List<GateName> scan() {
        long start = System.nanoTime();
        GateStore.OpenGates open = gates.findOpenGates(scanCursor, MAX_GATES);
        scanCursor = open.last();
        long took = System.nanoTime() - start;
        long pause = scanCursor == null
                ? clusterSize.scaledInterval(SCAN_INTERVAL, MAX_INTERVAL).toNanos()
                : 0;
        nextScan = System.nanoTime() + Math.max(pause, took * SCAN_COST_RATIO);
        return open.gates();
    }

    private List<GateName> promote(Collection<GateName> all) {
        if (all.isEmpty()) return List.of();
        GateStore.PromotionResult result = gates.promote(new ArrayList<>(all));
        result.lanes().forEach(reports::onGatePassed);
        result.skipped().forEach(scheduleListener::onScheduleEvent);
        result.retryAfter().forEach((gate, wait) -> timers.put(gate, System.nanoTime() + wait.toNanos()));
        return result.busy();
    }
}
