package io.carillon.internal.engine.claim;

import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.engine.node.Node;
import io.carillon.internal.store.run.ClaimRequest;
import java.time.Instant;
import java.util.List;

/**
 * Claims new work of other lanes while the claimer waits for the answer to a large claim. It makes one small claim at a
 * time, on its own connection. While no large claim is being executed, it sleeps.
 */
final class NewLaneClaimer implements Loop.Task {
    private final Loop loop = new Loop("claim-new", true, this);
    private final ClaimExecutor claimExecutor;
    private final LaneDueTimes laneDueTimes;
    private final Node node;
    private final ClaimPacing claimPacing;
    private final Runnable onUnanswered;
    private volatile boolean hintPending;

    /** {@code onUnanswered} runs when a claim fails, because a claim that failed may have committed. */
    NewLaneClaimer(
            ClaimExecutor claimExecutor,
            LaneDueTimes laneDueTimes,
            Node node,
            ClaimPacing claimPacing,
            Runnable onUnanswered) {
        this.claimExecutor = claimExecutor;
        this.laneDueTimes = laneDueTimes;
        this.node = node;
        this.claimPacing = claimPacing;
        this.onUnanswered = onUnanswered;
    }

    /**
     * Reports that a lane without backlog has new work. If no large claim is being executed, does nothing: the claimer
     * takes the work then.
     */
    void hintNewWork() {
        if (!claimExecutor.largeClaimActive()) return;
        hintPending = true;
        loop.wake();
    }

    /** Returns the thread that repeats this task. */
    Loop loop() {
        return loop;
    }

    @Override
    public void runRound() throws InterruptedException {
        if (!hintPending) {
            loop.sleep(10_000_000_000L);
            return;
        }
        hintPending = false;
        int size = claimPacing.newLaneClaimSize();
        if (size == 0) return;
        Instant now = node.clock().now();
        List<ClaimRequest.LaneClaim> laneClaims = laneDueTimes.takeNewLaneClaims(size, now);
        if (!laneClaims.isEmpty()) claimExecutor.claimBesideLargeClaim(laneClaims, now);
    }

    @Override
    public void onFailure(Throwable failure) {
        onUnanswered.run();
    }
}
