package io.carillon.internal.engine.node;

import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.node.NodeStore;
import io.carillon.internal.store.node.RescueResult;
import io.carillon.internal.store.run.RunStore;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Releases the runs of dead nodes when the heartbeat reports that there are some, and keeps the claim notes of this
 * node short. It has its own thread: a sweep may wait for a connection or take long, and a delayed heartbeat would make
 * other nodes declare this one dead.
 */
public final class Rescuer extends Loop {
    private static final Logger log = LoggerFactory.getLogger(Rescuer.class);
    private static final int CRASH_LIMIT = 3;

    private static final long NOTE_UPDATE_NANOS = 2_000_000_000L;

    private final NodeStore nodes;
    private final RunStore runs;
    private final Node node;
    private final Runnable onSwept;
    private final Runnable onReleased;
    private volatile boolean sweepRequested;
    private volatile RescueResult total = new RescueResult(0, 0, 0);

    /** {@code onSwept} runs after each sweep, {@code onReleased} after each sweep that released runs. */
    public Rescuer(Storage storage, Node node, Runnable onSwept, Runnable onReleased) {
        super("rescue", true);
        this.nodes = storage.nodes();
        this.runs = storage.runs();
        this.node = node;
        this.onSwept = onSwept;
        this.onReleased = onReleased;
    }

    /** Returns the total of all sweeps of this node. */
    public RescueResult total() {
        return total;
    }

    /** Requests a sweep. */
    public void requestSweep() {
        sweepRequested = true;
        wake();
    }

    @Override
    public void runRound() throws InterruptedException {
        if (sweepRequested) sweep();
        updateClaimNotes();
        if (!sweepRequested) sleep(NOTE_UPDATE_NANOS);
    }

    private void sweep() {
        // If the sweep fails, the next heartbeat requests it again.
        sweepRequested = false;
        RescueResult result = nodes.sweep(CRASH_LIMIT);
        total = total.plus(result);
        if (result.rescuedAny())
            log.warn(
                    "runs rescued nodes={} released={} quarantined={}",
                    result.nodes(),
                    result.released(),
                    result.quarantined());
        onSwept.run();
        if (result.rescuedAny()) onReleased.run();
    }

    private void updateClaimNotes() {
        UUID owner = node.id();
        node.activeAttempts().planNoteUpdate(owner).ifPresent(update -> {
            runs.replaceClaimNotes(owner, update.removed(), update.claimNumber(), update.ownedRuns());
            node.activeAttempts().applyNoteUpdate(owner, update);
        });
    }
}
