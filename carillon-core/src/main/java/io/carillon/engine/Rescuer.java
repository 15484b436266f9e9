package io.carillon.engine;

import io.carillon.store.NodeStore;
import io.carillon.store.RunStore;
import io.carillon.store.Storage;
import io.carillon.store.Swept;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Releases what dead nodes held, whenever the heartbeat says that there is something, and keeps the notes of this node's own claims short. On a thread of its
 * own: a sweep may wait for a connection or take long, and a heartbeat that waits with it would be taken for dead.
 */
final class Rescuer extends Loop {
    private static final Logger log = LoggerFactory.getLogger(Rescuer.class);
    private static final int CRASH_LIMIT = 3;

    private static final long NOTES_NANOS = 2_000_000_000L;

    private final NodeStore nodes;
    private final RunStore runs;
    private final Node node;
    private final Runnable onSwept;
    private final Runnable onReleased;
    private volatile boolean due;
    private volatile Swept total = new Swept(0, 0, 0);

    /** {@code onSwept}: called after each sweep; {@code onReleased}: after one that released runs. */
    Rescuer(Storage storage, Node node, Runnable onSwept, Runnable onReleased) {
        super("rescue", true);
        this.nodes = storage.nodes();
        this.runs = storage.runs();
        this.node = node;
        this.onSwept = onSwept;
        this.onReleased = onReleased;
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
        if (due) sweep();
        rewriteNotes();
        if (!due) sleep(NOTES_NANOS);
    }

    private void sweep() {
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
        if (swept.any()) onReleased.run();
    }

    private void rewriteNotes() {
        UUID owner = node.id();
        node.holding().rewrite(owner).ifPresent(rewrite -> {
            runs.rewriteNotes(owner, rewrite.gone(), rewrite.note(), rewrite.rows());
            node.holding().rewritten(owner, rewrite);
        });
    }
}
