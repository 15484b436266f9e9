package io.carillon.internal.engine.node;

import io.carillon.internal.engine.listener.LoopReports;
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
public final class Rescuer implements Loop.Task {
    private static final Logger log = LoggerFactory.getLogger(Rescuer.class);
    private final Loop loop = new Loop("rescue", true, this);
    private static final int CRASH_LIMIT = 3;

    private static final long RECORD_UPDATE_NANOS = 2_000_000_000L;

    private final NodeStore nodes;
    private final RunStore runs;
    private final Node node;
    private final LoopReports reports;
    private volatile boolean rescueRequested;
    private volatile RescueResult total = new RescueResult(0, 0, 0);

    public Rescuer(Storage storage, Node node, LoopReports reports) {
        this.nodes = storage.nodes();
        this.runs = storage.runs();
        this.node = node;
        this.reports = reports;
    }

    /** Returns the total of all rescues of this node. */
    public RescueResult total() {
        return total;
    }

    /** Requests a rescue. */
    public void requestRescue() {
        rescueRequested = true;
        loop.wake();
    }

    /** Returns the thread that repeats this task. */
    public Loop loop() {
        return loop;
    }

    @Override
    public void runRound() throws InterruptedException {
        if (rescueRequested) rescue();
        updateClaimRecords();
        if (!rescueRequested) loop.sleep(RECORD_UPDATE_NANOS);
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
        reports.onRescued(result.rescuedAny());
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
