package io.carillon.engine;

import io.carillon.store.NodeStore;
import io.carillon.store.Swept;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets go what dead nodes held, whenever the heart says that there is something. On a thread of its own: a sweep may wait for a connection or take long, and
 * a heart that waits with it would be taken for dead.
 */
final class Rescuer extends Loop {
    private static final Logger log = LoggerFactory.getLogger(Rescuer.class);
    private static final int CRASH_LIMIT = 3;

    private final NodeStore nodes;
    private final Runnable onSwept;
    private volatile boolean due;
    private volatile Swept total = new Swept(0, 0, 0);

    Rescuer(NodeStore nodes, Runnable onSwept) {
        super("rescue", true);
        this.nodes = nodes;
        this.onSwept = onSwept;
    }

    /** What all sweeps of this node did together. */
    Swept total() {
        return total;
    }

    /** There is something to sweep. */
    void due() {
        due = true;
        wake();
    }

    @Override
    void turn() throws InterruptedException {
        if (!due) {
            sleep(10_000_000_000L);
            return;
        }
        // A sweep that fails needs no memory: the next beat says again that it is due.
        due = false;
        Swept swept = nodes.sweep(CRASH_LIMIT);
        total = total.plus(swept);
        if (swept.any())
            log.warn(
                    "runs rescued nodes={} released={} quarantined={}",
                    swept.nodes(),
                    swept.released(),
                    swept.quarantined());
        onSwept.run();
    }
}
