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
public final class NewLaneClaimer extends Loop {
    private final ClaimExecutor claimExecutor;
    private final LaneDueTimes laneDueTimes;
    private final Node node;
    private final ClaimSizer claimSizer;
    private final Runnable onUnanswered;
    private volatile boolean hintPending;

    /** {@code onUnanswered} runs when a claim fails, because a claim that failed may have committed. */
    public NewLaneClaimer(
            ClaimExecutor claimExecutor,
            LaneDueTimes laneDueTimes,
            Node node,
            ClaimSizer claimSizer,
            Runnable onUnanswered) {
        super("claim-new", true);
        this.claimExecutor = claimExecutor;
        this.laneDueTimes = laneDueTimes;
        this.node = node;
        this.claimSizer = claimSizer;
        this.onUnanswered = onUnanswered;
    }

    /**
     * Reports that a lane without backlog has new work. If no large claim is being executed, does nothing: the claimer
     * takes the work then.
     */
    public void hintNewWork() {
        if (!claimExecutor.largeClaimActive()) return;
        hintPending = true;
        wake();
    }

    @Override
    public void runRound() throws InterruptedException {
        if (!hintPending) {
            sleep(10_000_000_000L);
            return;
        }
        hintPending = false;
        int size = claimSizer.newLaneClaimSize();
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
