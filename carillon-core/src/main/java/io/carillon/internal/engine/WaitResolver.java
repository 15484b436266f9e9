package io.carillon.internal.engine;

import io.carillon.internal.engine.listener.LoopReports;
import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.engine.node.ClusterSize;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.run.RunWaitStore;
import io.carillon.internal.store.run.RunWaitStore.Position;
import io.carillon.internal.store.run.RunWaitStore.Resolution;
import io.carillon.internal.store.run.RunWaitStore.RunKey;
import io.carillon.internal.store.run.RunWaitStore.Scan;
import io.carillon.internal.store.run.WorkflowSignalStore;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Releases runs that wait for other runs, and workflows that wait for signals: checks after each commit of the end of a
 * run, of a waiting run, of a signal and of a parked workflow, and scans all waits and pending signals in parts for
 * those that a crash left unreported. While there are none, an ending costs nothing here.
 */
final class WaitResolver implements Loop.Task {
    private static final int PART = 1_000;
    /** With more unread hints than this, the scan finds the rest. */
    private static final int MAX_HINTS = 50_000;

    private static final Duration SCAN_INTERVAL = Duration.ofSeconds(2);
    private static final Duration MAX_INTERVAL = Duration.ofSeconds(20);
    private static final long BUSY_WAIT_NANOS = 100_000_000L;
    /** Scans use at most one part in this many of the time. */
    private static final int SCAN_COST_RATIO = 20;

    private final RunWaitStore waits;
    private final WorkflowSignalStore signals;
    private final ClusterSize clusterSize;
    private final LoopReports reports;
    private final Loop loop = new Loop("wait", true, this);
    private final Set<RunKey> ended = new LinkedHashSet<>();
    private final Set<RunKey> stored = new LinkedHashSet<>();
    private volatile boolean waitsExist;
    private final Set<RunKey> busy = new LinkedHashSet<>();
    private long nextScan = System.nanoTime();
    private @Nullable Position scanPosition;
    private @Nullable RunKey signalPosition;

    WaitResolver(RunWaitStore waits, WorkflowSignalStore signals, ClusterSize clusterSize, LoopReports reports) {
        this.waits = waits;
        this.signals = signals;
        this.clusterSize = clusterSize;
        this.reports = reports;
    }

    /** Records that a transition was written. If it ended a run, the runs that wait for it are looked for. */
    void transitionWritten(Attempt attempt, Transition transition) {
        boolean ends = transition instanceof Transition.Complete
                || transition instanceof Transition.MarkDead
                || transition instanceof Transition.Cancel;
        if (ends && waitsExist)
            addHints(ended, List.of(new RunKey(attempt.lane().project(), attempt.run())));
    }

    /**
     * Records that a waiting run was stored, whose awaited runs may have ended before, or that a workflow was parked or
     * got a signal, each of which may have come before the other.
     */
    void waitStored(RunKey run) {
        waitsExist = true;
        addHints(stored, List.of(run));
    }

    private void addHints(Set<RunKey> hints, List<RunKey> more) {
        synchronized (this) {
            if (hints.size() < MAX_HINTS) hints.addAll(more);
        }
        loop.wake();
    }

    /** Sets whether any run waits, as read by the claimer's poll. While none waits, there are no scans. */
    void setWaitsExist(boolean exist) {
        boolean appeared = exist && !waitsExist;
        waitsExist = exist;
        if (appeared) loop.wake();
    }

    /** Returns the thread that repeats this task. */
    Loop loop() {
        return loop;
    }

    @Override
    public void runRound() throws InterruptedException {
        resolveHints();
        if (waitsExist && System.nanoTime() - nextScan >= 0) {
            long start = System.nanoTime();
            scan();
            long took = System.nanoTime() - start;
            long pause = scanIsComplete()
                    ? clusterSize.scaledInterval(SCAN_INTERVAL, MAX_INTERVAL).toNanos()
                    : 0;
            nextScan = System.nanoTime() + Math.max(pause, took * SCAN_COST_RATIO);
        }
        loop.sleep(nanosUntilDue());
    }

    private long nanosUntilDue() {
        if (hasHints()) return busy.isEmpty() ? 0 : BUSY_WAIT_NANOS;
        if (!waitsExist) return Duration.ofMinutes(1).toNanos();
        return Math.max(0, nextScan - System.nanoTime());
    }

    private synchronized boolean hasHints() {
        return !ended.isEmpty() || !stored.isEmpty();
    }

    /** Resolves one part of the hinted waits. */
    void resolveHints() {
        List<RunKey> endedRuns = take(ended);
        if (!endedRuns.isEmpty()) apply(waits.resolveAwaited(endedRuns));
        List<RunKey> waiting = take(stored);
        busy.clear();
        if (waiting.isEmpty()) return;
        apply(waits.resolve(waiting));
        apply(signals.wake(waiting));
    }

    private synchronized List<RunKey> take(Set<RunKey> hints) {
        List<RunKey> first = hints.stream().limit(PART).toList();
        first.forEach(hints::remove);
        return first;
    }

    /** Looks at all waits, once. For callers that do not run this loop. */
    void resolveAllOnce() {
        waitsExist = true;
        do {
            scan();
            while (hasHints() && busy.isEmpty()) resolveHints();
        } while (!scanIsComplete());
    }

    /** Reads the next part: of the waits for runs, and after the last of them, of the signals. */
    private void scan() {
        if (signalPosition == null) {
            Scan part = waits.scan(scanPosition, PART);
            apply(waits.resolve(part.waiting()));
            scanPosition = part.last();
            if (scanPosition != null) return;
        }
        WorkflowSignalStore.Scan part = signals.scan(signalPosition, PART);
        apply(signals.wake(part.runs()));
        signalPosition = part.last();
    }

    private boolean scanIsComplete() {
        return scanPosition == null && signalPosition == null;
    }

    private void apply(Resolution resolution) {
        reports.onWaitsResolved(resolution);
        addHints(ended, resolution.cancelled());
        busy.addAll(resolution.busy());
        addHints(stored, resolution.busy());
    }
}
