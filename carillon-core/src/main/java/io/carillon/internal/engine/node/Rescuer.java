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
 * Releases the runs of dead nodes when the heartbeat reports that there are some, and keeps the claim records of this
 * node short. It has its own thread: a rescue may wait for a connection or take long, and a delayed heartbeat would
 * make other nodes declare this one dead.
 */
public final class Rescuer extends Loop {
    private static final Logger log = LoggerFactory.getLogger(Rescuer.class);
    private static final int CRASH_LIMIT = 3;

    private static final long RECORD_UPDATE_NANOS = 2_000_000_000L;

    private final NodeStore nodes;
    private final RunStore runs;
    private final Node node;
    private final Runnable onRescued;
    private final Runnable onReleased;
    private volatile boolean rescueRequested;
    private volatile RescueResult total = new RescueResult(0, 0, 0);

    /** {@code onRescued} runs after each rescue, {@code onReleased} after each rescue that released runs. */
    public Rescuer(Storage storage, Node node, Runnable onRescued, Runnable onReleased) {
        super("rescue", true);
        this.nodes = storage.nodes();
        this.runs = storage.runs();
        this.node = node;
        this.onRescued = onRescued;
        this.onReleased = onReleased;
    }

    /** Returns the total of all rescues of this node. */
    public RescueResult total() {
        return total;
    }

    /** Requests a rescue. */
    public void requestRescue() {
        rescueRequested = true;
        wake();
    }

    @Override
    public void runRound() throws InterruptedException {
        if (rescueRequested) rescue();
        updateClaimRecords();
        if (!rescueRequested) sleep(RECORD_UPDATE_NANOS);
    }

    private void rescue() {
        // If the rescue fails, the next heartbeat requests it again.
        rescueRequested = false;
        RescueResult result = countedRescue();
        if (result.rescuedAny())
            log.warn(
                    "runs rescued nodes={} released={} quarantined={}",
                    result.nodes(),
                    result.released(),
                    result.quarantined());
        onRescued.run();
        if (result.rescuedAny()) onReleased.run();
    }

    private RescueResult countedRescue() {
        // A rescue that throws counts as a failure.
        RescueResult result = new RescueResult(0, 0, 0, 1);
        try {
            result = nodes.rescue(CRASH_LIMIT);
            return result;
        } finally {
            total = total.plus(result);
        }
    }

    private void updateClaimRecords() {
        UUID owner = node.id();
        node.activeAttempts().planRecordUpdate(owner).ifPresent(update -> {
            runs.replaceClaimRecords(owner, update.removed(), update.claimNumber(), update.ownedRuns());
            node.activeAttempts().applyRecordUpdate(owner, update);
        });
    }
}
