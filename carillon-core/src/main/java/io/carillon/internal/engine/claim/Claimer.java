package io.carillon.internal.engine.claim;

import io.carillon.internal.engine.attempt.ActiveAttempt;
import io.carillon.internal.engine.attempt.ActiveAttempts;
import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.engine.node.Node;
import io.carillon.internal.engine.wakeup.WakeupController;
import io.carillon.internal.run.Lane;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.run.ClaimRequest;
import io.carillon.internal.store.run.LaneDue;
import io.carillon.internal.store.run.LaneStore;
import io.carillon.internal.store.run.OwnedRun;
import io.carillon.internal.store.run.QueueHead;
import io.carillon.internal.store.run.RunStore;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims due runs, as many as the node can execute soon, and adds them to the ready queue. It sleeps until the next
 * known run is ready, but never longer than the poll interval, which is the longest delay after a lost hint.
 */
public final class Claimer extends Loop {
    private static final Logger log = LoggerFactory.getLogger(Claimer.class);
    private static final long ISOLATION_CHECK_NANOS = Duration.ofMillis(100).toNanos();
    /**
     * How long to wait for more runs when runs become due one by one. A claim costs the same for one run as for ten.
     */
    private static final long COALESCE_NANOS = Duration.ofMillis(2).toNanos();

    /** The number of lanes read by one part of a scan; takes about 10 ms. */
    private static final int SCAN_STEPS = 1_000;

    private static final long RECONCILE_NANOS = Duration.ofMinutes(1).toNanos();
    private static final long FIRST_RECONCILE_RETRY_NANOS =
            Duration.ofSeconds(1).toNanos();

    private final RunStore runs;
    private final LaneStore lanes;
    private final ClaimExecutor claimExecutor;
    private final LaneDueTimes laneDueTimes;
    private final Node node;
    private final ClaimSizer claimSizer;
    private final WakeupController.BacklogBroadcaster backlogBroadcaster;
    private final WakeupController.PollInterval pollInterval;
    private final BooleanSupplier listening;
    private volatile boolean claiming = true;
    private volatile boolean pollRequested = true;
    private volatile boolean fullPollRequested;
    private volatile boolean hintPending;
    private boolean lastClaimedNewLanes;
    /** New work arrived while this node had no capacity. It is claimed before the backlog when there is capacity. */
    private boolean newLanesPending;

    /** Whether isolated runs wait, as far as this node knows. */
    private boolean isolatedRunsWaiting;

    private final ClaimExecutor.Isolation isolation;

    private boolean claimedSincePoll;
    private boolean lastClaimPartial;
    private final LongAdder polls = new LongAdder();
    private final LongAdder pollNanos = new LongAdder();
    private volatile Consumer<Set<Lane>> onOpenBreakers = lanes -> {};
    private volatile Consumer<Boolean> onGatesExist = any -> {};
    private long lastPoll = System.nanoTime() - Duration.ofHours(1).toNanos();
    /** Full polls find runs that committed late and whose hint was lost. */
    private final CostLimitedTimer fullPolls = new CostLimitedTimer(Duration.ofSeconds(3));
    /** Scans read one lane after another. A poll does not reach the lanes whose runs are after a long backlog. */
    private final CostLimitedTimer scans = new CostLimitedTimer(Duration.ofSeconds(5));
    /** Whether the last poll did not read all runs that become ready before the next poll. */
    private boolean lanesMayBeHidden;
    /** The position after which the next part of a scan begins; null if no scan is in progress. */
    private @Nullable LaneDue scanCursor;

    private long scanNanos;

    private long lastClaim = lastPoll;
    private volatile long lastReconcile = System.nanoTime();
    /**
     * The delay before a failed reconciliation is repeated. It starts short, because unanswered claims must
     * not wait long.
     */
    private long reconcileRetryNanos = FIRST_RECONCILE_RETRY_NANOS;

    private Instant headFrom = Instant.MIN;

    public Claimer(
            Storage storage,
            ClaimExecutor claimExecutor,
            LaneDueTimes laneDueTimes,
            Node node,
            ClaimSizer claimSizer,
            WakeupController.BacklogBroadcaster backlogBroadcaster,
            WakeupController wakeupController) {
        super("claim", false);
        this.runs = storage.runs();
        this.lanes = storage.lanes();
        this.claimExecutor = claimExecutor;
        this.isolation = claimExecutor.new Isolation(claimSizer);
        this.laneDueTimes = laneDueTimes;
        this.node = node;
        this.claimSizer = claimSizer;
        this.backlogBroadcaster = backlogBroadcaster;
        this.pollInterval = wakeupController.pollInterval();
        this.listening = wakeupController::isListening;
    }

    /** Sets the action that receives, with each poll, the lanes whose breaker is open or half-open. */
    public void onOpenBreakers(Consumer<Set<Lane>> action) {
        onOpenBreakers = action;
    }

    /** Sets the action that receives, with each poll, whether any run has a gate. */
    public void onGatesExist(Consumer<Boolean> action) {
        onGatesExist = action;
    }

    /** Stops claiming. Attempts that this node holds continue. */
    public void stopClaiming() {
        claiming = false;
        wake();
    }

    /** Polls soon because of a change without a known instant, and makes a full poll due within three seconds. */
    public void pollNow() {
        pollRequested = true;
        fullPolls.runSoon();
        wake();
    }

    /**
     * Starts a full poll: a run may be ready before the instant at which ordinary polls begin to read. This happens
     * after the database clock was set back, and if a run became visible later than it was ready while no hint could
     * arrive.
     */
    public void pollAllNow() {
        fullPollRequested = true;
        pollNow();
    }

    /** Records that a lane has new work. */
    public void hintNewWork() {
        hintPending = true;
        wake();
    }

    /** Returns the longest delay after a lost hint. In a large cluster, other nodes poll meanwhile. */
    private Duration scaledPollInterval() {
        return node.clusterSize().scaledInterval(pollInterval.current(), pollInterval.maxInCluster());
    }

    @Override
    public void runRound() throws InterruptedException {
        // Runs of a small claim beside a large one are not held here until the small claim is answered.
        if (System.nanoTime() - lastReconcile > RECONCILE_NANOS && claimExecutor.allClaimsAnswered()) reconcile();
        if (isolation.isActive(claiming)) {
            sleep(ISOLATION_CHECK_NANOS);
            return;
        }
        int claimSize = claiming ? claimSizer.claimSize() : 0;
        if (claimNewLanes(claimSize)) return;
        if (claimSize == 0) {
            if (!hintPending || !claiming)
                sleep(Math.min(scaledPollInterval().toNanos(), backlogBroadcaster.sendPending()));
            return;
        }
        // Also under a backlog: only a poll finds isolated runs and lanes without hints.
        if (System.nanoTime() - lastPoll >= scaledPollInterval().toNanos()) poll();
        if (isolatedRunsWaiting && isolation.pauseNanos() <= 0) {
            isolatedRunsWaiting = isolation.claim(hasOrdinaryRuns());
            if (isolatedRunsWaiting) {
                claimedSincePoll = true;
                return;
            }
        }
        if (scanCursor != null) scan();
        if (coalesceNanos() <= 0 && claim(claimSize)) return;
        long sincePoll = System.nanoTime() - lastPoll;
        if (pollRequested || sincePoll >= scaledPollInterval().toNanos()) {
            poll();
            return;
        }
        long untilPoll = scaledPollInterval().toNanos() - sincePoll;
        if (isolatedRunsWaiting) untilPoll = Math.min(untilPoll, Math.max(0, isolation.pauseNanos()));
        if (scanCursor != null) untilPoll = 0;
        // Wake slightly late: a claim before the database clock reaches the instant finds nothing.
        long untilReady = node.clock().nanosUntil(laneDueTimes.nextReady()) + 200_000L;
        sleep(Math.min(
                Math.min(untilPoll, backlogBroadcaster.sendPending()),
                Math.max(untilReady, Math.max(coalesceNanos(), 0))));
    }

    /** Returns whether this node has ordinary runs or could claim some. */
    private boolean hasOrdinaryRuns() {
        return node.activeAttempts().size() > 0
                || !laneDueTimes.nextReady().isAfter(node.clock().now());
    }

    /** Returns how long the next claim waits for more runs. With a backlog it does not wait. */
    private long coalesceNanos() {
        return lastClaimPartial ? lastClaim + COALESCE_NANOS - System.nanoTime() : 0;
    }

    /**
     * Claims new work of lanes without backlog, even while a backlog fills the slots. Happens at most every other time,
     * so that the backlog is not delayed.
     */
    private boolean claimNewLanes(int claimSize) {
        boolean due = (hintPending || (newLanesPending && claimSize > 0)) && !lastClaimedNewLanes && claiming;
        lastClaimedNewLanes = false;
        if (!due) return false;
        hintPending = false;
        int size = claimSize > 0 ? claimSize : claimSizer.newLaneClaimSize();
        newLanesPending = size == 0;
        if (size == 0) return false;
        Instant now = node.clock().now();
        lastClaimedNewLanes = claim(laneDueTimes.takeNewLaneClaims(size, now), true, now);
        // The backlog is not exhausted, so the next claim does not wait for more runs.
        if (lastClaimedNewLanes) lastClaimPartial = false;
        // There may be more new work than the claim asked for.
        if (lastClaimedNewLanes) newLanesPending = true;
        return lastClaimedNewLanes;
    }

    /** Claims from the lanes that are due. Returns false if no lane is due. */
    private boolean claim(int claimSize) {
        Instant now = node.clock().now();
        return claim(laneDueTimes.takeLaneClaims(claimSize, now), false, now);
    }

    private boolean claim(List<ClaimRequest.LaneClaim> laneClaims, boolean ahead, Instant now) {
        if (laneClaims.isEmpty()) return false;
        lastClaim = System.nanoTime();
        ClaimExecutor.ClaimSummary summary = claimExecutor.claim(laneClaims, ahead, now);
        lastClaimPartial = summary.exhausted();
        if (summary.claimedCount() > 0) claimedSincePoll = true;
        // In a large cluster, a node whose claim got nothing leaves the work to others until its next regular poll. If
        // the last poll read the next instants and hints arrive, another poll would return the same.
        if (summary.exhausted()
                && (summary.claimedCount() > 0
                        ? !isNextReadyCertain()
                        : !node.clusterSize().isLarge())) pollRequested = true;
        return true;
    }

    private boolean isNextReadyCertain() {
        return listening.getAsBoolean() && laneDueTimes.isNextReadyCertain();
    }

    /** Records that a run of this lane has ended. Only matters for lanes with a limit. */
    public void runEnded(Lane lane) {
        if (claimExecutor.limited(lane))
            laneDueTimes.recordCapacityFreed(lane, node.clock().now());
    }

    private void poll() {
        pollRequested = false;
        boolean intervalElapsed =
                System.nanoTime() - lastPoll >= scaledPollInterval().toNanos();
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
        onOpenBreakers.accept(head.openBreakers());
        onGatesExist.accept(head.gatesExist());
        headFrom = head.lanes().stream()
                .map(due -> due.readyAt())
                .min(Instant::compareTo)
                .orElse(Instant.MAX);
        if (headFrom.isAfter(head.now())) headFrom = head.now();
        laneDueTimes.finishPoll(claimExecutor.filterKnownHandlers(head.lanes()), head.seenUntil());
        boolean found = claimedSincePoll || headFrom.isBefore(head.now());
        claimedSincePoll = false;
        if (found || intervalElapsed) pollInterval.recordPoll(found);
        isolatedRunsWaiting = head.isolatedRunsWaiting();
        // Scan before these runs become due: while the node works through them, it rarely polls.
        lanesMayBeHidden = head.seenUntil().isBefore(head.now().plus(scaledPollInterval()));
        if (lanesMayBeHidden && scanCursor == null && scans.isDue()) scan();
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
    public long polls() {
        return polls.sum();
    }

    /** Returns the total time of all polls. */
    public Duration pollTime() {
        return Duration.ofNanos(pollNanos.sum());
    }

    /**
     * Makes a reconciliation and a full poll due. A claim that failed may have committed, and runs that were not passed
     * on are still owned by this node.
     */
    @Override
    public void onFailure(Throwable failure) {
        fullPollRequested = true;
        lastReconcile = overdueReconcileTime();
    }

    /** Compares the rows that this node owns with the attempts it holds, soon. */
    public void reconcileSoon() {
        lastReconcile = overdueReconcileTime();
        wake();
    }

    private static long overdueReconcileTime() {
        return System.nanoTime() - RECONCILE_NANOS - 1;
    }

    /**
     * Hands back rows that this node owns in the database but does not hold: runs of unanswered claims. If this fails,
     * claims continue and it is repeated later.
     */
    private void reconcile() {
        lastReconcile = System.nanoTime();
        try {
            UUID owner = node.id();
            boolean all = handBackAll(
                    owner,
                    row -> node.activeAttempts()
                            .find(row.run())
                            .filter(one -> one.owner().equals(owner)
                                    && ActiveAttempts.toOwnedRun(one).equals(row))
                            .isEmpty(),
                    false);
            // The nodes that have these handlers may have stopped.
            claimExecutor.forgetUnknownHandlers();
            if (all) reconcileRetryNanos = FIRST_RECONCILE_RETRY_NANOS;
            else scheduleReconcileRetry();
        } catch (RuntimeException failure) {
            log.warn("reconciliation of owned runs failed; will retry", failure);
            scheduleReconcileRetry();
        }
    }

    private void scheduleReconcileRetry() {
        lastReconcile = System.nanoTime() - RECONCILE_NANOS + reconcileRetryNanos;
        reconcileRetryNanos = Math.min(2 * reconcileRetryNanos, RECONCILE_NANOS);
    }

    /** Hands back all rows that this node owns, so that nothing is left to rescue after it stops. */
    public void handBackAll() {
        handBackAll(node.id(), row -> true, true);
    }

    /**
     * Hands back the selected rows. Returns false if other transactions have locked some of them. Runs that are unknown
     * to this node were never started.
     */
    private boolean handBackAll(UUID owner, Predicate<OwnedRun> which, boolean wait) {
        Set<ActiveAttempt> unconfirmed = node.activeAttempts().unconfirmed();
        Set<Long> claimRecords = runs.claimRecords(owner);
        List<OwnedRun> rows = runs.ownedRuns(owner).stream().filter(which).toList();
        // Most of these ended between the two queries; the fence excludes them.
        int handedBack = runs.handBackRows(owner, rows, node.activeAttempts().startedRuns(), wait);
        if (handedBack > 0) log.warn("runs released that were claimed without an answer runs={}", handedBack);
        // Locked rows are still owned by this node. Their claim records stay until a later reconciliation hands them
        // back.
        if (handedBack < rows.size() && !Collections.disjoint(runs.ownedRuns(owner), Set.copyOf(rows))) return false;
        node.activeAttempts().markReconciled(owner, claimRecords, unconfirmed);
        return true;
    }
}
