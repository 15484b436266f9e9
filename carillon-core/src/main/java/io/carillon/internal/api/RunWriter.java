package io.carillon.internal.api;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.Wakeup;
import io.carillon.internal.engine.Engine;
import io.carillon.internal.run.NewRun;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.run.RunWaitStore;
import io.carillon.run.EnqueueResult;
import io.carillon.spi.WakeTransport;
import java.sql.Connection;
import java.util.List;
import java.util.Optional;
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
        sendWakeups(runs, different, results);
        return results;
    }

    /** Wakes the nodes, or sends a message for each of the runs that were stored. */
    private void sendWakeups(List<NewRun> runs, List<NewRun> different, List<EnqueueResult> results) {
        Optional<RunMessenger> messenger = engine.get() == null ? messenger() : Optional.empty();
        if (messenger.isEmpty()) different.forEach(this::sendWakeup);
        for (int i = 0; messenger.isPresent() && i < runs.size(); i++) {
            NewRun run = runs.get(i);
            if (results.get(i) instanceof EnqueueResult.Enqueued)
                quietly(() -> messenger
                        .get()
                        .send(run.lane().project(), run.lane().queue(), run.id(), 1, Wakeup.delay(run.due())));
        }
    }

    /** Returns what sends and executes messages that name runs; empty if the messages of this process name none. */
    private Optional<RunMessenger> messenger() {
        return RunMessenger.of(wakeup.get(), storage.runAdmin(), storage.clock());
    }

    /** Returns what sends and executes messages that name runs. */
    public RunMessenger requireMessenger() {
        return messenger()
                .orElseThrow(() -> new CarillonException(
                        ErrorCode.INVALID_OPTION,
                        "This process has no keys for messages. Build it with the wake-up"
                                + " Wakeup.queue(transport).messagePerRun(keys, valid)."));
    }

    /** Sends a message for a workflow that got a signal, if messages name runs. */
    public void sendMessageFor(RunWaitStore.RunKey workflow) {
        messenger().ifPresent(messenger -> quietly(() -> messenger.sendFor(workflow.project(), workflow.run())));
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
        List<EnqueueResult> results =
                storage.newRuns().enqueueIn(connection, runs, current.notifies() && !sentAfterCommit);
        if (afterCommit != null) afterCommit.accept(() -> sendWakeups(runs, different, results));
        return results;
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
