package io.carillon.internal.engine;

import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.store.schedule.PlanStore;
import io.carillon.internal.value.PublicId;
import java.time.Duration;
import java.util.UUID;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds the claim token while this node is alive and no other node holds it. In leader mode only its holder claims
 * runs. The lease that this node counts by its own clock begins before the one in the database, so it stops claiming
 * before another node can take over. A node whose process was paused may claim once more before it notices; each run is
 * still claimed by one node only.
 */
final class ClaimLeader implements Loop.Task {
    private static final Logger log = LoggerFactory.getLogger(ClaimLeader.class);

    private final Loop loop = new Loop("leader", true, this);
    private final PlanStore store;
    private final Supplier<UUID> node;
    private final Duration lease;
    private final Duration checkInterval;
    private final Runnable onLeading;
    private volatile long leadsUntil = System.nanoTime();
    private boolean leading;

    /** {@code onLeading} runs when this node has become the leader. */
    ClaimLeader(PlanStore store, Supplier<UUID> node, Duration lease, Duration checkInterval, Runnable onLeading) {
        this.store = store;
        this.node = node;
        this.lease = lease;
        this.checkInterval = checkInterval;
        this.onLeading = onLeading;
    }

    /** Returns the thread that repeats this task. */
    Loop loop() {
        return loop;
    }

    /** Returns whether this node may claim runs. */
    boolean isLeading() {
        return System.nanoTime() - leadsUntil < 0;
    }

    @Override
    public void runRound() throws InterruptedException {
        UUID self = node.get();
        long sent = System.nanoTime();
        boolean held = store.acquireClaimToken(self, lease);
        leadsUntil = held ? sent + lease.toNanos() : sent;
        if (held != leading) {
            log.info(held ? "claim token acquired node={}" : "claim token lost node={}", PublicId.ofNode(self));
            leading = held;
            if (held) onLeading.run();
        }
        loop.sleep(checkInterval.toNanos());
    }

    @Override
    public void onFailure(Throwable failure) {
        // The token is kept until it expires: the database may answer again soon.
    }

    @Override
    public void onEnd() {
        leadsUntil = System.nanoTime();
        store.releaseClaimToken(node.get());
    }
}
