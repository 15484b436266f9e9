package io.carillon.internal.api;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.run.NewRun;
import io.carillon.internal.store.AdminPorts;
import io.carillon.internal.store.run.RunAdmin;
import io.carillon.internal.store.run.RunWaitStore.RunKey;
import io.carillon.internal.store.run.WorkflowSignalStore;
import io.carillon.internal.store.run.WorkflowSignalStore.NewSignal;
import io.carillon.internal.value.Names;
import io.carillon.run.CancelResult;
import io.carillon.run.EnqueueResult;
import io.carillon.run.Payload;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.workflow.Send;
import io.carillon.workflow.SendResult;
import io.carillon.workflow.Signal;
import io.carillon.workflow.Start;
import io.carillon.workflow.StartResult;
import io.carillon.workflow.WorkflowHandle;
import io.carillon.workflow.WorkflowType;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The workflows of one project: starts them, and gives access to them. Checks values before anything is written. */
public final class ProjectWorkflows {
    /**
     * What follows a signal.
     *
     * @param notifyNodes whether the signal adds a notification
     * @param sent runs after the signal was stored
     */
    public record Wake(boolean notifyNodes, Consumer<RunKey> sent) {}

    /** Runs a start that consists of several writes in a transaction. */
    @FunctionalInterface
    public interface StartTransaction {
        StartResult run(Function<ProjectWorkflows, StartResult> start);
    }

    /** A signal that can be stored, in a repeated call too. */
    private record EncodedSignal(UUID id, String sendId, String name, Payload value) {}

    private final RunFactory runFactory;
    private final RunAdmin runs;
    private final WorkflowSignalStore signals;
    private final Function<List<NewRun>, List<EnqueueResult>> runWriter;
    private final Wake wake;
    private final @Nullable StartTransaction startTransaction;

    /** {@code startTransaction} is null in the transaction of a caller. */
    public ProjectWorkflows(
            RunFactory runFactory,
            AdminPorts ports,
            Function<List<NewRun>, List<EnqueueResult>> runWriter,
            Wake wake,
            @Nullable StartTransaction startTransaction) {
        this.runFactory = runFactory;
        this.runs = ports.runs();
        this.signals = ports.signals();
        this.runWriter = runWriter;
        this.wake = wake;
        this.startTransaction = startTransaction;
    }

    public <T> StartResult start(WorkflowType<T> type, T input, Start start) {
        NewRun independent = runFactory.newRun(type.handlerType(), input, start.runOptions());
        RunId parent = start.parent();
        NewRun run = parent == null ? independent : independent.asChildOf(parent);
        Start.FirstSignal first = start.firstSignal();
        if (first == null) return store(run);
        EncodedSignal signal = encode(first.signal(), first.value(), first.send());
        String name = name(type, start.id());
        return startTransaction == null
                ? storeAndSend(run, name, signal)
                : startTransaction.run(workflows -> workflows.storeAndSend(run, name, signal));
    }

    private StartResult storeAndSend(NewRun run, String name, EncodedSignal signal) {
        StartResult started = store(run);
        send(name, started.run(), signal);
        return started;
    }

    private StartResult store(NewRun run) {
        EnqueueResult result = runWriter.apply(List.of(run)).get(0);
        return result instanceof EnqueueResult.Enqueued
                ? new StartResult.Started(result.run())
                : new StartResult.Duplicate(result.run());
    }

    public WorkflowHandle get(WorkflowType<?> type, String id) {
        Names.checkKey("workflow id", id);
        return new Handle(name(type, id), () -> signals.find(runFactory.project(), type.name(), id));
    }

    public WorkflowHandle get(RunId run) {
        return new Handle("workflow " + run, () -> Optional.of(run));
    }

    private final class Handle implements WorkflowHandle {
        private final String name;
        private final Supplier<Optional<RunId>> find;

        Handle(String name, Supplier<Optional<RunId>> find) {
            this.name = name;
            this.find = find;
        }

        @Override
        public RunId run() {
            return find.get()
                    .orElseThrow(() -> unknown("%s in project '%s' does not exist, or its id is no longer held."
                            .formatted(name, runFactory.project())));
        }

        @Override
        public Optional<Run> get() {
            return find.get().flatMap(run -> runs.get(runFactory.project(), run));
        }

        @Override
        public <R> Optional<R> result(Class<R> type) {
            return get().flatMap(run -> StoredResults.decode(run, runFactory.codec(), type));
        }

        @Override
        public CancelResult cancel() {
            return cancel("cancelled by the application");
        }

        @Override
        public CancelResult cancel(String reason) {
            return runs.cancel(runFactory.project(), run(), reason);
        }

        @Override
        public <T> SendResult signal(Signal<T> signal, T value) {
            return send(signal, value, null);
        }

        @Override
        public <T> SendResult signal(Signal<T> signal, T value, Send send) {
            return send(signal, value, send);
        }

        private <T> SendResult send(Signal<T> signal, @Nullable T value, @Nullable Send send) {
            EncodedSignal encoded = encode(signal, value, send);
            return ProjectWorkflows.this.send(name, run(), encoded);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private static String name(WorkflowType<?> type, String id) {
        return "workflow '%s' of type '%s'".formatted(id, type.name());
    }

    private EncodedSignal encode(Signal<?> signal, @Nullable Object value, @Nullable Send send) {
        if (value == null)
            throw new CarillonException(
                    ErrorCode.PAYLOAD_UNWRITABLE,
                    "The value of signal '%s' is null. Send a value; use an empty record if there is no data."
                            .formatted(signal.name()));
        // A value that is encoded already stays as it is.
        Payload payload = value instanceof Payload encoded
                ? encoded
                : new Payload(
                        runFactory.codec().encode(value), runFactory.codec().name());
        UUID id = runFactory.newId().value();
        return new EncodedSignal(
                id,
                send == null ? id.toString() : send.id(),
                signal.name(),
                RunFactory.requireWithinLimit(signal.name(), payload));
    }

    private SendResult send(String workflow, RunId run, EncodedSignal signal) {
        NewSignal stored =
                new NewSignal(runFactory.project(), run, signal.id(), signal.sendId(), signal.name(), signal.value());
        WorkflowSignalStore.Sent sent = signals.send(stored, wake.notifyNodes());
        requireSent(sent, workflow, signal.name());
        wake.sent().accept(new RunKey(runFactory.project(), run));
        return sent == WorkflowSignalStore.Sent.STORED ? new SendResult.Sent() : new SendResult.Duplicate();
    }

    private void requireSent(WorkflowSignalStore.Sent sent, String workflow, String signal) {
        String project = runFactory.project();
        if (sent == WorkflowSignalStore.Sent.NO_LIVE_RUN)
            throw unknown("%s in project '%s' does not exist or has ended; the signal '%s' was not stored."
                    .formatted(workflow, project, signal));
        if (sent == WorkflowSignalStore.Sent.NO_WORKFLOW)
            throw new CarillonException(
                    ErrorCode.RUN_NOT_WORKFLOW,
                    "The handler of %s in project '%s' is no workflow; the signal '%s' was not stored."
                            .formatted(workflow, project, signal));
        if (sent == WorkflowSignalStore.Sent.TOO_MANY)
            throw new CarillonException(
                    ErrorCode.TOO_MANY_SIGNALS,
                    ("The signal '%s' was not stored: %s in project '%s' has too many signals that it has not taken."
                                    + " At most %d with %d MiB are kept.")
                            .formatted(
                                    signal,
                                    workflow,
                                    project,
                                    WorkflowSignalStore.MAX_UNREAD,
                                    WorkflowSignalStore.MAX_UNREAD_BYTES >> 20));
    }

    private static CarillonException unknown(String what) {
        return new CarillonException(ErrorCode.UNKNOWN_RUN, Character.toUpperCase(what.charAt(0)) + what.substring(1));
    }
}
