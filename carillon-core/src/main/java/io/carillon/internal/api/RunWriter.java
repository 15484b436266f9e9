package io.carillon.internal.api;

import io.carillon.Wakeup;
import io.carillon.internal.engine.Engine;
import io.carillon.internal.run.NewRun;
import io.carillon.internal.store.Storage;
import io.carillon.run.EnqueueResult;
import io.carillon.spi.WakeTransport;
import java.sql.Connection;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Stores the runs of a process, and wakes the nodes that execute them. */
public final class RunWriter {
    private static final Logger log = LoggerFactory.getLogger(RunWriter.class);

    private final Storage storage;
    private final Supplier<Wakeup> wakeup;
    private final Supplier<@Nullable Engine> engine;

    /** {@code engine} returns the node of the process, or null if it has none. */
    public RunWriter(Storage storage, Supplier<Wakeup> wakeup, Supplier<@Nullable Engine> engine) {
        this.storage = storage;
        this.wakeup = wakeup;
        this.engine = engine;
    }

    /** Stores runs and wakes the nodes. */
    public List<EnqueueResult> store(List<NewRun> runs) {
        if (runs.isEmpty()) return List.of();
        Wakeup current = wakeup.get();
        List<NewRun> different = WakeupCauses.different(runs);
        different.forEach(run -> current.rejectTooFarAhead(run.due()));
        List<EnqueueResult> results = storage.newRuns().enqueue(runs, engine.get() == null && current.notifies());
        different.forEach(this::sendWakeup);
        return results;
    }

    /**
     * Wakes the nodes after a run with this lane and due time was committed: through this process's node, or through
     * the transport. A process without a node has already sent a NOTIFY with the insert.
     */
    private void sendWakeup(NewRun run) {
        Engine running = engine.get();
        WakeTransport transport = wakeup.get().transport();
        if (running != null) running.announce(run);
        else if (transport != null) {
            WakeTransport.Message message =
                    new WakeTransport.Message(run.lane().project(), run.lane().queue());
            quietly(() -> transport.trySend(message, Wakeup.delay(run.due())));
        }
    }

    /**
     * Stores runs in the transaction of the caller. The nodes are woken by a notification inside of it, or by the tasks
     * that {@code afterCommit} receives.
     */
    public List<EnqueueResult> storeIn(
            Connection connection, List<NewRun> runs, @Nullable Consumer<Runnable> afterCommit) {
        if (runs.isEmpty()) return List.of();
        Wakeup current = wakeup.get();
        List<NewRun> different = WakeupCauses.different(runs);
        different.forEach(run -> current.rejectTooFarAhead(run.due()));
        boolean sentAfterCommit = afterCommit != null && engine.get() != null;
        if (afterCommit != null) afterCommit.accept(() -> different.forEach(this::sendWakeup));
        return storage.newRuns().enqueueIn(connection, runs, current.notifies() && !sentAfterCommit);
    }

    /**
     * Sends a wake-up and logs a failure. The run or change is already committed: a lost wake-up only delays it until
     * the next poll, so the caller must not receive an exception.
     */
    public static void quietly(Runnable wakeup) {
        try {
            wakeup.run();
        } catch (RuntimeException unsent) {
            log.warn("could not send wake-up; the next poll finds the work", unsent);
        }
    }
}
