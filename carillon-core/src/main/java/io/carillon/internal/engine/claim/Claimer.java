package io.carillon.internal.engine.claim;

import io.carillon.internal.engine.listener.LoopReports;
import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.engine.node.Node;
import io.carillon.internal.engine.wakeup.WakeupController;
import io.carillon.internal.run.Lane;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.run.ClaimRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Claims due runs, as many as the node can execute soon, and adds them to the ready queue. It sleeps until the next
 * known run is ready, but never longer than the poll interval, which is the longest delay after a lost hint.
 * {@link QueueReader} finds the lanes, {@link ClaimPacing} says how many runs and when, {@link ClaimExecutor} claims
 * them.
 */
public final class Claimer implements Loop.Task {
    private static final long ISOLATION_CHECK_NANOS = Duration.ofMillis(100).toNanos();

    private final Loop loop = new Loop("claim", false, this);
    private final LaneDueTimes laneDueTimes;
    private final Node node;
    private final ClaimPacing pacing;
    private final WakeupController.BacklogBroadcaster backlogBroadcaster;
    private final ClaimExecutor claimExecutor;
    private final QueueReader queueReader;
    private final IsolatedGroups isolatedGroups;
    private final OwnedRunReconciler reconciler;
    private final NewLaneClaimer newLaneClaimer;
    private volatile boolean claiming = true;
    private BooleanSupplier mayClaim = () -> true;

    public Claimer(
            Storage storage,
            Node node,
            LaneDueTimes laneDueTimes,
            ClaimPacing pacing,
            WakeupController wakeupController,
            LoopReports reports) {
        this.laneDueTimes = laneDueTimes;
        this.node = node;
        this.pacing = pacing;
        backlogBroadcaster =
                new WakeupController.BacklogBroadcaster(node.clusterSize(), wakeupController.wakeupSender());
        claimExecutor = new ClaimExecutor(
                storage,
                laneDueTimes,
                node,
                backlogBroadcaster::reportBacklog,
                lane -> wakeupController.wakeupSender().announceWork(lane, Instant.EPOCH),
                null);
        queueReader = new QueueReader(storage.lanes(), claimExecutor, laneDueTimes, node, wakeupController, reports);
        isolatedGroups = new IsolatedGroups(storage.runs(), node, pacing, claimExecutor::allClaimsAnswered);
        reconciler = new OwnedRunReconciler(storage.runs(), node);
        newLaneClaimer = new NewLaneClaimer(claimExecutor, laneDueTimes, node, pacing, this::reconcileSoon);
    }

    /** Returns the thread that repeats this task. */
    public Loop loop() {
        return loop;
    }

    /** Returns the loop that claims new work while this one waits for the answer to a large claim. */
    public Loop newLaneLoop() {
        return newLaneClaimer.loop();
    }

    /** Makes this node claim only while a condition holds. Must be called before the start. */
    public void claimOnlyWhile(BooleanSupplier condition) {
        mayClaim = condition;
    }

    /** Stops claiming. Attempts that this node holds continue. */
    public void stopClaiming() {
        claiming = false;
        loop.wake();
    }

    /** Polls soon because of a change without a known instant, and makes a full poll due within three seconds. */
    public void pollNow() {
        queueReader.requestPoll();
        loop.wake();
    }

    /**
     * Starts a full poll: a run may be ready before the instant at which ordinary polls begin to read. This happens
     * after the database clock was set back, and if a run became visible later than it was ready while no hint could
     * arrive.
     */
    public void pollAllNow() {
        queueReader.requestFullPoll();
        pollNow();
    }

    /** Records that a lane has a run ready at this instant. */
    public void hint(Lane lane, Instant readyAt) {
        if (laneDueTimes.hint(lane, readyAt, node.clock().now())) newLaneClaimer.hintNewWork();
        pacing.recordHint();
        loop.wake();
    }

    /** If this node has no slot for runs of this lane, lets more nodes know that it has work. */
    public void reportBacklogIfFull(Lane lane) {
        if (pacing.isFull(lane)) backlogBroadcaster.reportBacklog(lane);
    }

    /** Records that a run of this lane has ended. Only matters for lanes with a limit. */
    public void runEnded(Lane lane) {
        if (claimExecutor.limited(lane))
            laneDueTimes.recordCapacityFreed(lane, node.clock().now());
    }

    /** Compares the rows that this node owns with the attempts it holds, soon. */
    public void reconcileSoon() {
        reconciler.request();
        loop.wake();
    }

    /** Hands back all rows that this node owns, so that nothing is left to rescue after it stops. */
    public void handBackAll() {
        reconciler.handBackAll();
    }

    @Override
    public void runRound() throws InterruptedException {
        reconcileIfDue();
        boolean claims = claiming && mayClaim.getAsBoolean();
        if (isolatedGroups.isActive(claims)) {
            loop.sleep(ISOLATION_CHECK_NANOS);
            return;
        }
        int claimSize = claims ? pacing.claimSize() : 0;
        if (claims && claimNewLanes(claimSize)) return;
        if (claimSize == 0) {
            if (!pacing.isHintPending() || !claims)
                loop.sleep(Math.min(queueReader.interval().toNanos(), backlogBroadcaster.sendPending()));
            return;
        }
        // Also under a backlog: only a poll finds isolated runs and lanes without hints.
        queueReader.pollIfIntervalElapsed();
        if (claimIsolatedGroup()) return;
        queueReader.continueScan();
        if (pacing.gatherNanos() <= 0 && claimDue(claimSize)) return;
        if (!queueReader.pollIfDue()) loop.sleep(nanosUntilWork());
    }

    /** Runs of a small claim beside a large one are not held here until the small claim is answered. */
    private void reconcileIfDue() {
        if (!reconciler.isDue() || !claimExecutor.allClaimsAnswered()) return;
        reconciler.reconcile();
        // The nodes that have these handlers may have stopped.
        claimExecutor.forgetUnknownHandlers();
    }

    private boolean claimIsolatedGroup() {
        if (!queueReader.isolatedRunsWaiting() || isolatedGroups.pauseNanos() > 0) return false;
        boolean hasOrdinaryRuns = node.activeAttempts().size() > 0
                || !laneDueTimes.nextReady().isAfter(node.clock().now());
        queueReader.isolatedRunsWaiting(isolatedGroups.claim(hasOrdinaryRuns));
        return queueReader.isolatedRunsWaiting();
    }

    /** Claims new work of lanes without backlog, even while a backlog fills the slots. */
    private boolean claimNewLanes(int claimSize) {
        int size = pacing.takeNewLaneTurn(claimSize);
        if (size == 0) return false;
        Instant now = node.clock().now();
        long sent = System.nanoTime();
        if (!claim(laneDueTimes.takeNewLaneClaims(size, now), true, now)) return false;
        pacing.recordNewLaneClaim(sent);
        return true;
    }

    /** Claims from the lanes that are due. Returns false if no lane is due. */
    private boolean claimDue(int claimSize) {
        Instant now = node.clock().now();
        return claim(laneDueTimes.takeLaneClaims(claimSize, now), false, now);
    }

    private boolean claim(List<ClaimRequest.LaneClaim> laneClaims, boolean ahead, Instant now) {
        if (laneClaims.isEmpty()) return false;
        long sent = System.nanoTime();
        ClaimExecutor.ClaimSummary summary = claimExecutor.claim(laneClaims, ahead, now);
        pacing.recordClaim(sent, summary.exhausted() && summary.claimedCount() > 0);
        queueReader.recordClaim(summary.claimedCount() > 0, summary.exhausted());
        return true;
    }

    private long nanosUntilWork() {
        long untilPoll = queueReader.nanosUntilPoll();
        if (queueReader.isolatedRunsWaiting())
            untilPoll = Math.min(untilPoll, Math.max(0, isolatedGroups.pauseNanos()));
        // Wake slightly late: a claim before the database clock reaches the instant finds nothing.
        long untilReady = node.clock().nanosUntil(laneDueTimes.nextReady()) + 200_000L;
        return Math.min(
                Math.min(untilPoll, backlogBroadcaster.sendPending()),
                Math.max(untilReady, Math.max(pacing.gatherNanos(), 0)));
    }

    /** Returns how often this node polled. */
    public long polls() {
        return queueReader.polls();
    }

    /** Returns the total time of all polls. */
    public Duration pollTime() {
        return queueReader.pollTime();
    }

    /**
     * Makes a reconciliation and a full poll due. A claim that failed may have committed, and runs that were not passed
     * on are still owned by this node.
     */
    @Override
    public void onFailure(Throwable failure) {
        queueReader.requestFullPoll();
        reconciler.request();
    }
}
