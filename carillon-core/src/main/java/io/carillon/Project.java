package io.carillon;

import io.carillon.Stats.RunStats;
import io.carillon.event.Events;
import io.carillon.event.NewEvent;
import io.carillon.event.PublishResult;
import io.carillon.internal.api.ProjectEvents;
import io.carillon.internal.api.ProjectWorkflows;
import io.carillon.internal.api.RunFactory;
import io.carillon.internal.run.NewRun;
import io.carillon.internal.store.AdminPorts;
import io.carillon.run.Enqueue;
import io.carillon.run.EnqueueResult;
import io.carillon.run.HandlerType;
import io.carillon.run.Payload;
import io.carillon.run.RunId;
import io.carillon.run.Target;
import io.carillon.spi.ScheduleListener;
import io.carillon.workflow.Start;
import io.carillon.workflow.StartResult;
import io.carillon.workflow.WorkflowHandle;
import io.carillon.workflow.WorkflowType;
import java.sql.Connection;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The schedules, runs and queues of one project. All calls stay within this project; the node of a process executes the
 * runs of all projects. Thread-safe, except for an instance that is bound to a transaction with {@link #in}.
 */
public final class Project implements Enqueuer {
    /** Stores runs. */
    @FunctionalInterface
    interface RunWriter {
        List<EnqueueResult> store(List<NewRun> runs);
    }

    /** The calls that follow a change: wake the nodes, notify the schedule listener. */
    record ChangeHooks(
            Runnable wakeNodes,
            ScheduleListener scheduleListener,
            ProjectEvents.Wake events,
            ProjectWorkflows.Wake signals,
            ProjectWorkflows.@Nullable StartTransaction startTransaction) {}

    /** Creates the API of the same project, bound to a caller's transaction. */
    @FunctionalInterface
    interface TransactionJoiner {
        Project join(Connection connection, @Nullable Consumer<Runnable> afterCommit);
    }

    private final RunFactory runFactory;
    private final AdminPorts ports;
    private final RunWriter runWriter;
    private final ChangeHooks changeHooks;
    private final TransactionJoiner transactionJoiner;

    Project(
            RunFactory runFactory,
            AdminPorts adminPorts,
            RunWriter runWriter,
            ChangeHooks changeHooks,
            TransactionJoiner transactionJoiner) {
        this.runFactory = runFactory;
        this.ports = adminPorts;
        this.runWriter = runWriter;
        this.changeHooks = changeHooks;
        this.transactionJoiner = transactionJoiner;
    }

    /** Returns the name of this project. */
    public String name() {
        return runFactory.project();
    }

    /** Returns the schedules of this project. */
    public Schedules schedules() {
        return new Schedules(ports.schedules(), runFactory, changeHooks.wakeNodes(), changeHooks.scheduleListener());
    }

    /** Returns the runs of this project. */
    public Runs runs() {
        return new Runs(ports.runs(), name(), changeHooks.wakeNodes(), runFactory.codec());
    }

    /** Returns the queues of this project. */
    public Queues queues() {
        return new Queues(ports.lanes(), name(), changeHooks.wakeNodes());
    }

    /** Returns statistics of the runs of this project. */
    public RunStats stats(RunStats.Query query) {
        return ports.stats().read(name(), query);
    }

    /** Returns the events and subscriptions of this project. */
    public Events events() {
        return new ProjectEvents(runFactory, ports, changeHooks.events());
    }

    /** Starts a workflow, unless the type has a workflow with this id. */
    public <T> StartResult start(WorkflowType<T> type, T input, Start start) {
        return workflows().start(type, input, start);
    }

    /** Returns the workflow of a type with this id. The handle may be kept; it reads nothing until it is used. */
    public WorkflowHandle workflow(WorkflowType<?> type, String id) {
        return workflows().get(type, id);
    }

    /** Returns the workflow with this run. */
    public WorkflowHandle workflow(RunId run) {
        return workflows().get(run);
    }

    ProjectWorkflows workflows() {
        return new ProjectWorkflows(
                runFactory, ports, runWriter::store, changeHooks.signals(), changeHooks.startTransaction());
    }

    /** Stores an event. A version conflict is a result and not an exception. */
    public PublishResult publish(NewEvent<?> event) {
        return events().publish(event);
    }

    @Override
    public <T> EnqueueResult enqueue(HandlerType<T> type, T payload, Enqueue options) {
        return runWriter
                .store(List.of(runFactory.newRun(type, payload, options)))
                .get(0);
    }

    @Override
    public <T> List<EnqueueResult> enqueueAll(HandlerType<T> type, Collection<T> values, Enqueue options) {
        return runWriter.store(values.stream()
                .map(value -> runFactory.newRun(type, value, options))
                .toList());
    }

    /**
     * Stores runs with encoded payloads, for callers that know the target only by name. Stores all runs or none;
     * returns one result per payload, in order.
     */
    public List<EnqueueResult> enqueueAll(Target target, Collection<Payload> encoded, Enqueue options) {
        return runWriter.store(encoded.stream()
                .map(payload -> runFactory.newRun(target, payload, options))
                .toList());
    }

    /**
     * A run that was checked and has its id, for {@link #enqueuePrepared}. Storing the same run twice stores it once.
     */
    public static final class PreparedRun {
        private final NewRun run;

        private PreparedRun(NewRun run) {
            this.run = run;
        }

        /** Returns a copy that is a child of this workflow. */
        public PreparedRun asChildOf(RunId workflow) {
            return new PreparedRun(run.asChildOf(workflow));
        }
    }

    /**
     * Returns a run to be stored by {@link #enqueuePrepared}, with the context of this thread. Rejects invalid values
     * as {@link #enqueueAll(Target, Collection, Enqueue)} does.
     */
    public PreparedRun prepare(Target target, Payload encoded, Enqueue options) {
        return new PreparedRun(runFactory.newRun(target, encoded, options));
    }

    /**
     * Stores runs whose targets and options may differ. Stores all runs or none; returns one result per run, in order.
     */
    public List<EnqueueResult> enqueuePrepared(List<PreparedRun> runs) {
        return runWriter.store(runs.stream().map(prepared -> prepared.run).toList());
    }

    /**
     * Returns the API of this project bound to the caller's transaction. Its changes become visible when that
     * transaction commits, and are undone if it rolls back.
     */
    public Project in(Connection connection) {
        return transactionJoiner.join(connection, null);
    }

    /**
     * Like {@link #in(Connection)}, but passes the tasks that notify nodes and listeners to {@code afterCommit} instead
     * of sending a NOTIFY inside the transaction. The caller runs these tasks after the commit.
     */
    public Project in(Connection connection, Consumer<Runnable> afterCommit) {
        return transactionJoiner.join(connection, afterCommit);
    }
}
