package io.carillon.internal.engine.claim;

import io.carillon.internal.engine.listener.LoopReports;
import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.engine.node.Node;
import io.carillon.internal.engine.wakeup.WakeupController;
import io.carillon.internal.store.run.LaneDue;
import io.carillon.internal.store.run.LaneStore;
import io.carillon.internal.store.run.QueueHead;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Reads which lanes have due runs, and records them in {@link LaneDueTimes}. Polls read the head of the queue: from
 * where the last one found it, and now and then from the first entry. Scans read one lane after another.
 */
final class QueueReader {
    /** The number of lanes read by one part of a scan; takes about 10 ms. */
    private static final int SCAN_STEPS = 1_000;

    private final LaneStore lanes;
    private final ClaimExecutor claimExecutor;
    private final LaneDueTimes laneDueTimes;
    private final Node node;
    private final WakeupController wakeupController;
    private final LoopReports reports;
    private final LongAdder polls = new LongAdder();
    private final LongAdder pollNanos = new LongAdder();
    private volatile boolean pollRequested = true;
    private volatile boolean fullPollRequested;
    /** Full polls find runs that committed late and whose hint was lost. */
    private final Loop.CostLimitedTimer fullPolls = new Loop.CostLimitedTimer(Duration.ofSeconds(3));
    /** Scans read one lane after another. A poll does not reach the lanes whose runs are after a long backlog. */
    private final Loop.CostLimitedTimer scans = new Loop.CostLimitedTimer(Duration.ofSeconds(5));

    private long lastPoll = System.nanoTime() - Duration.ofHours(1).toNanos();
    private boolean claimedSincePoll;
    /** Whether the last poll did not read all runs that become ready before the next poll. */
    private boolean lanesMayBeHidden;
    /** Whether isolated runs wait, as far as this node knows. */
    private boolean isolatedRunsWaiting;
    /** The position after which the next part of a scan begins; null if no scan is in progress. */
    private @Nullable LaneDue scanCursor;

    private long scanNanos;
    private Instant headFrom = Instant.MIN;

    QueueReader(
            LaneStore lanes,
            ClaimExecutor claimExecutor,
            LaneDueTimes laneDueTimes,
            Node node,
            WakeupController wakeupController,
            LoopReports reports) {
        this.lanes = lanes;
        this.claimExecutor = claimExecutor;
        this.laneDueTimes = laneDueTimes;
        this.node = node;
        this.wakeupController = wakeupController;
        this.reports = reports;
    }

    /** Requests a poll because of a change without a known instant, and a full poll within three seconds. */
    void requestPoll() {
        pollRequested = true;
        fullPolls.runSoon();
    }

    /** Requests a full poll: a run may be ready before the instant at which ordinary polls begin to read. */
    void requestFullPoll() {
        fullPollRequested = true;
    }

    /** Records the result of a claim: whether it got runs, and whether a lane had fewer than it asked for. */
    void recordClaim(boolean claimed, boolean exhausted) {
        if (claimed) claimedSincePoll = true;
        if (!exhausted) return;
        // In a large cluster, a node whose claim got nothing leaves the work to others until its next regular poll. If
        // the last poll read the next instants and hints arrive, another poll would return the same.
        boolean nextReadyCertain = wakeupController.isListening() && laneDueTimes.isNextReadyCertain();
        if (claimed ? !nextReadyCertain : !node.clusterSize().isLarge()) pollRequested = true;
    }

    /** Returns the longest delay after a lost hint. In a large cluster, other nodes poll meanwhile. */
    Duration interval() {
        WakeupController.PollInterval pollInterval = wakeupController.pollInterval();
        return node.clusterSize().scaledInterval(pollInterval.current(), pollInterval.maxInCluster());
    }

    /** Returns how long the next poll can wait. */
    long nanosUntilPoll() {
        if (pollRequested || scanCursor != null) return 0;
        return Math.max(0, interval().toNanos() - (System.nanoTime() - lastPoll));
    }

    /** Polls if the interval has elapsed. */
    void pollIfIntervalElapsed() {
        if (intervalElapsed()) poll();
    }

    /** Polls if a poll was requested or the interval has elapsed. Returns whether it did. */
    boolean pollIfDue() {
        if (!pollRequested && !intervalElapsed()) return false;
        poll();
        return true;
    }

    boolean isolatedRunsWaiting() {
        return isolatedRunsWaiting;
    }

    /** Records whether isolated runs still wait after a claim of some. */
    void isolatedRunsWaiting(boolean waiting) {
        isolatedRunsWaiting = waiting;
        if (!waiting) return;
        claimedSincePoll = true;
        // The time after the group belongs to ordinary runs: the poll finds those whose hint has not arrived.
        pollRequested = true;
    }

    private boolean intervalElapsed() {
        return System.nanoTime() - lastPoll >= interval().toNanos();
    }

    private void poll() {
        pollRequested = false;
        boolean intervalElapsed = intervalElapsed();
        boolean scanning = lanesMayBeHidden && scans.isDue();
        boolean fullPoll = fullPollRequested || (!scanning && fullPolls.isDue());
        fullPollRequested = false;
        lastPoll = System.nanoTime();
        if (fullPoll || scanning) laneDueTimes.removeIdleLanes();
        laneDueTimes.beginPoll();
        QueueHead head = lanes.readQueueHead(fullPoll ? Instant.MIN : headFrom);
        node.clock().observe(head.now(), lastPoll);
        polls.increment();
        pollNanos.add(System.nanoTime() - lastPoll);
        if (fullPoll) fullPolls.recordCost(System.nanoTime() - lastPoll);
        claimExecutor.limited(head.limitedLanes());
        laneDueTimes.setWeights(head.weights());
        reports.onQueueRead(head);
        headFrom = head.lanes().stream()
                .map(due -> due.readyAt())
                .min(Instant::compareTo)
                .orElse(Instant.MAX);
        if (headFrom.isAfter(head.now())) headFrom = head.now();
        laneDueTimes.finishPoll(claimExecutor.filterKnownHandlers(head.lanes()), head.seenUntil());
        boolean found = claimedSincePoll || headFrom.isBefore(head.now());
        claimedSincePoll = false;
        if (found || intervalElapsed) wakeupController.pollInterval().recordPoll(found);
        isolatedRunsWaiting = head.isolatedRunsWaiting();
        // Scan before these runs become due: while the node works through them, it rarely polls.
        lanesMayBeHidden = head.seenUntil().isBefore(head.now().plus(interval()));
        if (lanesMayBeHidden && scanCursor == null && scans.isDue()) scan();
    }

    /** Continues a scan that is in progress. */
    void continueScan() {
        if (scanCursor != null) scan();
    }

    /**
     * Executes one part of a scan. A claim follows each part: the claim waits for one part only, and the lanes seen
     * first are not emptied before the others are seen. All parts together also find what a full poll finds.
     */
    private void scan() {
        long start = System.nanoTime();
        LaneStore.ScanPart scanPart = lanes.scan(scanCursor, SCAN_STEPS);
        laneDueTimes.recordDue(claimExecutor.filterKnownHandlers(scanPart.found()));
        scanCursor = scanPart.next();
        long nanos = System.nanoTime() - start;
        scanNanos += nanos;
        if (scanCursor != null) return;
        scans.recordCost(scanNanos);
        fullPolls.recordCost(scanNanos);
        scanNanos = 0;
    }

    /** Returns how often this node polled. */
    long polls() {
        return polls.sum();
    }

    /** Returns the total time of all polls. */
    Duration pollTime() {
        return Duration.ofNanos(pollNanos.sum());
    }
}
