package io.carillon;

import io.carillon.Stats.RunStats;
import io.carillon.event.Events;
import io.carillon.event.NewEvent;
import io.carillon.event.PublishResult;
import io.carillon.internal.api.ApiValues;
import io.carillon.internal.api.CalledExecution;
import io.carillon.internal.api.DataSources;
import io.carillon.internal.api.HealthCheck;
import io.carillon.internal.api.NodeNames;
import io.carillon.internal.api.ProjectEvents;
import io.carillon.internal.api.ProjectWorkflows;
import io.carillon.internal.api.RunFactory;
import io.carillon.internal.api.RunWriter;
import io.carillon.internal.api.StatsReading;
import io.carillon.internal.engine.Engine;
import io.carillon.internal.engine.EngineParts;
import io.carillon.internal.engine.loop.BoundedWait;
import io.carillon.internal.engine.stats.StatsRecorder;
import io.carillon.internal.engine.stats.StatsWriter;
import io.carillon.internal.jdbc.Backend;
import io.carillon.internal.postgres.PostgresStorage;
import io.carillon.internal.postgres.migration.Migrator;
import io.carillon.internal.run.NewRun;
import io.carillon.internal.run.RunHeaders;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.store.AdminPorts;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.node.Hint;
import io.carillon.internal.store.run.RunWaitStore;
import io.carillon.internal.value.Names;
import io.carillon.internal.value.Uuid7;
import io.carillon.run.Enqueue;
import io.carillon.run.EnqueueResult;
import io.carillon.run.HandlerType;
import io.carillon.run.RunId;
import io.carillon.schedule.ScheduleDefinition;
import io.carillon.spi.AttemptInterceptor;
import io.carillon.spi.ExecuteResult;
import io.carillon.spi.MessageQueue;
import io.carillon.spi.MessageResult;
import io.carillon.spi.PayloadCodec;
import io.carillon.spi.ScheduleEvent;
import io.carillon.workflow.Start;
import io.carillon.workflow.StartResult;
import io.carillon.workflow.WorkflowHandle;
import io.carillon.workflow.WorkflowType;
import java.sql.Connection;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A distributed scheduler and durable work queue that stores everything in PostgreSQL.
 *
 * <p>Carillon guarantees:
 * <ul>
 * <li>Each planned instant of a schedule creates exactly one run, or one recorded reason why it did not run.
 * <li>The handler of a run starts at least once.
 * <li>The result of a run is recorded at most once.
 * <li>Database changes that a handler commits together with its run happen exactly once, see
 * {@link CarillonBuilder#handleInTransaction(HandlerType, io.carillon.run.TransactionalHandler)}.
 * </ul>
 * <pre>{@code
 * HandlerType<Invoice> sendInvoice = HandlerType.of("send-invoice", Invoice.class);
 * try (Carillon carillon = Carillon.on(dataSource)
 *         .handle(sendInvoice, (invoice, run) -> mailer.send(invoice))
 *         .start()) {
 *     carillon.enqueue(sendInvoice, invoice);
 * }
 * }</pre>
 *
 * <p>The methods of this class work on the default project, which {@link CarillonBuilder#project} sets.
 * {@link #project} returns the API of another project. Instances are thread-safe. After {@link #close()}, every
 * method except {@link #isRunning()}, {@link #wakeup()} and {@link #close()} throws a {@link CarillonException} with
 * {@link ErrorCode#ALREADY_CLOSED}.
 */
public final class Carillon implements Enqueuer, AutoCloseable {
    private final Storage storage;
    private final RunFactory runFactory;
    private final RunWriter runWriter;
    private final Set<String> projects = ConcurrentHashMap.newKeySet();
    private final EngineParts parts;
    private final StatsWriter statsWriter;
    private final CalledExecution calledExecution;
    private final UnaryOperator<NodeConfig> fitToPool;
    private final HealthCheck.Sources healthSources;
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile NodeConfig config;
    private volatile @Nullable Engine engine;

    private Carillon(
            Storage storage,
            RunFactory runFactory,
            EngineParts parts,
            NodeConfig config,
            UnaryOperator<NodeConfig> fitToPool,
            HealthCheck.Sources healthSources) {
        this.storage = storage;
        this.runFactory = runFactory;
        this.parts = parts;
        this.config = config;
        this.fitToPool = fitToPool;
        this.healthSources = healthSources;
        this.statsWriter = new StatsWriter(parts.stats());
        parts.stats().onFirstCount(statsWriter::startOnce);
        storage.countEndings(parts.stats());
        this.runWriter = new RunWriter(storage, () -> this.config.wakeup(), () -> engine);
        this.calledExecution = new CalledExecution(parts, statsWriter, runWriter);
    }

    /**
     * Returns a builder for an instance that uses this database.
     *
     * @param dataSource a connection pool on PostgreSQL 14 or later. Carillon creates no pool and does not close this
     *     one.
     */
    public static CarillonBuilder on(DataSource dataSource) {
        return new CarillonBuilder(dataSource);
    }

    /**
     * Returns access to the Carillon tables of this database, for applications that migrate them manually.
     * {@link CarillonBuilder#start()} and {@link CarillonBuilder#build()} migrate them automatically.
     */
    public static Schema schema(DataSource dataSource) {
        return new Schema(dataSource);
    }

    static Carillon of(CarillonBuilder builder) {
        DataSource engineSource = builder.engineDataSource == null ? builder.dataSource : builder.engineDataSource;
        DataSources.check(engineSource);
        boolean shared = builder.handlers.anyTransactional() && builder.engineDataSource == null;
        UnaryOperator<NodeConfig> fitToPool = config -> DataSources.fitToPool(config, engineSource, shared);
        NodeConfig wanted = builder.nodeConfig();
        PayloadCodec codec = builder.codec();
        // Only a node needs the engine's connections. A process that only enqueues or calls runDue works with
        // one or two.
        NodeConfig config = builder.startsNode ? fitToPool.apply(wanted) : wanted;
        new Migrator(engineSource).run(builder.schema);
        TickPlanner planner = TickPlanner.withLookAhead(config.lookAhead());
        boolean behindPooler = DataSources.isBehindPooler(engineSource)
                || (engineSource != builder.dataSource && DataSources.isBehindPooler(builder.dataSource));
        DataSource listenSource = builder.listenDataSource == null ? engineSource : builder.listenDataSource;
        Storage storage = new PostgresStorage(engineSource, listenSource, !behindPooler, planner);
        storage.projects().ensure(builder.project);
        builder.workflowHandlers.useStorage(storage, codec, config.concurrency());
        RunHeaders runHeaders = new RunHeaders(builder.contextPropagators);
        RunFactory runFactory = new RunFactory(
                builder.project, builder.handlers, codec, runHeaders, new Uuid7.Sequence(storage.clock()));
        EngineParts parts = new EngineParts(
                storage,
                builder.handlers.bind(codec, runHeaders),
                behindPooler
                        ? () -> Backend.disableServerPrepare(builder.dataSource.getConnection())
                        : builder.dataSource::getConnection,
                builder.listeners,
                planner,
                NodeNames.identity(builder.nodeName),
                new StatsRecorder(storage.stats(), storage.clock()),
                builder.relaysAndSources.declareIn(storage, runFactory));
        HealthCheck.Sources healthSources =
                new HealthCheck.Sources(new Schema(engineSource)::validate, builder.healthIssues);
        Carillon carillon = new Carillon(storage, runFactory, parts, config, fitToPool, healthSources);
        // All definitions are built before the first is stored: an invalid definition changes no schedule.
        List<ScheduleDefinition> definitions = builder.schedules.values().stream()
                .map(define -> define.apply(carillon.schedules()).owner(ScheduleDefinition.Owner.CODE))
                .toList();
        carillon.schedules().upsertDefinitions(definitions);
        carillon.schedules()
                .settleUndeclared(builder.schedules.keySet(), parts.handlers().keySet(), builder.prunesSchedules);
        builder.eventHandlers.declareIn(storage, builder.project, builder.handlers);
        builder.builtActions.forEach(action -> action.accept(carillon));
        return carillon;
    }

    void startEngine() {
        Engine started = new Engine(parts, fitToPool.apply(config));
        started.start();
        engine = started;
    }

    @Override
    public <T> EnqueueResult enqueue(HandlerType<T> type, T payload, Enqueue options) {
        return defaultProject().enqueue(type, payload, options);
    }

    @Override
    public <T> List<EnqueueResult> enqueueAll(HandlerType<T> type, Collection<T> values, Enqueue options) {
        return defaultProject().enqueueAll(type, values, options);
    }

    private List<EnqueueResult> store(List<NewRun> runs) {
        refuseIfClosed();
        return runWriter.store(runs);
    }

    /**
     * Returns the API of another project. The project is created if it does not exist. The node of this process
     * executes the runs of all projects.
     */
    public Project project(String name) {
        refuseIfClosed();
        if (!name.equals(runFactory.project()) && !projects.contains(Names.check("project", name))) {
            storage.projects().ensure(name);
            projects.add(name);
        }
        return projectFor(runFactory.forProject(name));
    }

    private Project defaultProject() {
        refuseIfClosed();
        return projectFor(runFactory);
    }

    private Project projectFor(RunFactory factory) {
        AdminPorts ports = new AdminPorts(
                storage.runAdmin(),
                storage.schedules(),
                storage.lanes(),
                storage.wake(),
                storage.stats(),
                storage.events(),
                storage.relays(),
                storage.sources(),
                storage.workflowSignals());
        return new Project(
                factory,
                ports,
                this::store,
                new Project.ChangeHooks(
                        this::wakeNodes,
                        this::notifyListeners,
                        new ProjectEvents.Wake(
                                engine == null && config.wakeup().notifies(), this::wakeDispatcher, this::wakeNodes),
                        new ProjectWorkflows.Wake(
                                engine == null && config.wakeup().notifies(), this::announceSignal),
                        start -> storage.transaction((connection, afterCommit) ->
                                start.apply(projectInTransaction(factory, connection, afterCommit)
                                        .workflows()))),
                (in, hints) -> projectInTransaction(factory, in, hints));
    }

    private Project projectInTransaction(
            RunFactory factory, Connection connection, @Nullable Consumer<Runnable> afterCommit) {
        refuseIfClosed();
        // Without tasks after the commit, nothing says whether the caller commits, and the statistics do not count it.
        Consumer<Runnable> later = afterCommit == null ? task -> {} : afterCommit;
        AdminPorts ports = storage.inTransaction(connection, later);
        Runnable wakeAfterCommit = afterCommit == null
                ? () -> {
                    if (config.wakeup().notifies()) ports.wake().send(List.of(new Hint.CheckAll()));
                }
                : () -> afterCommit.accept(this::wakeNodes);
        boolean dispatchesAfterCommit = afterCommit != null && engine != null;
        ProjectEvents.Wake eventWake = new ProjectEvents.Wake(
                config.wakeup().notifies() && !dispatchesAfterCommit,
                () -> later.accept(this::wakeDispatcher),
                wakeAfterCommit);
        ProjectWorkflows.Wake signalWake = new ProjectWorkflows.Wake(
                eventWake.notifyNodes(), workflow -> later.accept(() -> announceSignal(workflow)));
        Project.ChangeHooks changeHooks = new Project.ChangeHooks(
                wakeAfterCommit, event -> later.accept(() -> notifyListeners(event)), eventWake, signalWake, null);
        return new Project(
                factory,
                ports,
                runs -> runWriter.storeIn(connection, runs, afterCommit),
                changeHooks,
                (in, tasks) -> projectInTransaction(factory, in, tasks));
    }

    /**
     * Returns the API of the default project bound to the caller's transaction. Its changes become visible when that
     * transaction commits, and are undone if it rolls back.
     *
     * @param connection a connection with an open transaction; the caller commits it
     */
    public Project in(Connection connection) {
        return defaultProject().in(connection);
    }

    /**
     * Like {@link #in(Connection)}, but sends wake-ups and listener events after the commit instead of a NOTIFY inside
     * the transaction.
     *
     * @param afterCommit receives tasks that the caller runs after the commit. They notify the nodes and the listeners,
     *     and in the wake-up modes queue and hybrid also other processes.
     */
    public Project in(Connection connection, Consumer<Runnable> afterCommit) {
        return defaultProject().in(connection, afterCommit);
    }

    /** Starts a workflow of the default project, unless the type has a workflow with this id. */
    public <T> StartResult start(WorkflowType<T> type, T input, Start start) {
        return defaultProject().start(type, input, start);
    }

    /** Returns the workflow of a type with this id. The handle may be kept; it reads nothing until it is used. */
    public WorkflowHandle workflow(WorkflowType<?> type, String id) {
        return defaultProject().workflow(type, id);
    }

    /** Returns the workflow with this run. */
    public WorkflowHandle workflow(RunId run) {
        return defaultProject().workflow(run);
    }

    /** Stores an event in the default project. A version conflict is a result and not an exception. */
    public PublishResult publish(NewEvent<?> event) {
        return defaultProject().publish(event);
    }

    /** Returns the events and subscriptions of the default project. */
    public Events events() {
        return defaultProject().events();
    }

    /** Returns the schedules of the default project. */
    public Schedules schedules() {
        return defaultProject().schedules();
    }

    /** Returns the runs of the default project. */
    public Runs runs() {
        return defaultProject().runs();
    }

    /** Returns the queues of the default project. */
    public Queues queues() {
        return defaultProject().queues();
    }

    /** Returns how this process is woken when runs become due. */
    public Wakeup wakeup() {
        return config.wakeup();
    }

    /**
     * Changes how this process is woken, without a restart. The mode {@code http} stops the node of this
     * process, which first waits for its running attempts; every other mode starts a node if there is none.
     * Stored data is not affected.
     */
    public synchronized void wakeup(Wakeup wakeup) {
        refuseIfClosed();
        Engine running = engine;
        boolean runsDueOnCallOnly = wakeup.mode() == Wakeup.Mode.HTTP;
        config = config.wakeup(wakeup);
        if (running == null) {
            if (!runsDueOnCallOnly) startEngine();
        } else if (runsDueOnCallOnly) {
            engine = null;
            running.close();
        } else running.changeWakeup(wakeup);
    }

    /**
     * Plans, claims and executes on the calling thread until no run is due or the budget is used up. Intended for
     * serverless functions and external cron jobs.
     *
     * @param budget how long the call may start new attempts, between 1 ms and 1 h
     */
    public RunDueResult runDue(Duration budget) {
        return runDue(budget, run -> {});
    }

    /**
     * Like {@link #runDue(Duration)}, but calls an interceptor before each handler. An exception from the interceptor
     * fails the attempt. The test kit uses this to test retries.
     */
    public RunDueResult runDue(Duration budget, AttemptInterceptor interceptor) {
        refuseIfClosed();
        return calledExecution.runDue(budget, interceptor);
    }

    /**
     * Executes a run of the default project on the calling thread, if it is due: one attempt, which takes a workflow to
     * its next wait. The claim has the same fence, limits and pauses as that of a node. Intended for callers that know
     * the run from elsewhere, such as a message.
     *
     * @throws CarillonException with {@link ErrorCode#UNKNOWN_HANDLER} if this process does not have the handler of the
     *     run, which stays as it is
     */
    public ExecuteResult execute(RunId run) {
        return execute(runFactory.project(), run);
    }

    /** Executes a run of a project, see {@link #execute(RunId)}. */
    public ExecuteResult execute(String project, RunId run) {
        refuseIfClosed();
        return calledExecution.execute(project, run);
    }

    /**
     * Executes the runs that these messages name, one after the other, and returns what to do with each message, in the
     * same order. The process needs the wake-up {@link Wakeup#messagePerRun}. The message for the next attempt of a run
     * is sent before this returns. A message is a hint: one that is repeated, old or forged executes nothing twice.
     */
    public List<MessageResult> consume(List<String> messages) {
        refuseIfClosed();
        return calledExecution.consume(messages);
    }

    /**
     * Takes one batch of messages from a queue, executes their runs, and answers each message as soon as its run was
     * executed. Call this in a loop.
     *
     * @param maxBatch the largest number of messages, from 1 to 1,000
     * @param wait how long to wait for the first message
     * @return the number of messages
     */
    public int consume(MessageQueue queue, int maxBatch, Duration wait) throws InterruptedException {
        refuseIfClosed();
        return calledExecution.consume(queue, maxBatch, wait);
    }

    /**
     * Returns whether the node of this process executes runs: the node was started, is not closed, and all of its loops
     * are alive. Never throws, even after {@link #close()}.
     */
    public boolean isRunning() {
        Engine running = engine;
        return !closed.get()
                && running != null
                && running.status().loops().values().stream().allMatch(NodeStatus.LoopStatus::alive);
    }

    /** Returns the state of this process's node; empty if this process has no node. */
    public Optional<NodeStatus> status() {
        refuseIfClosed();
        Engine running = engine;
        return running == null ? Optional.empty() : Optional.of(running.status());
    }

    /** Returns how much work is waiting in the queues and schedules of all projects, and how late it is. */
    public Stats stats() {
        refuseIfClosed();
        return StatsReading.read(storage);
    }

    /** Returns statistics of the runs of the default project. */
    public RunStats stats(RunStats.Query query) {
        return defaultProject().stats(query);
    }

    /**
     * Checks the node of this process, the other nodes, the schedules, the database and the sources that {@link
     * CarillonBuilder#healthIssues} added, and returns the issues found.
     */
    public Health health() {
        refuseIfClosed();
        return HealthCheck.check(storage, engine, config.wakeup(), healthSources);
    }

    /** Returns the live nodes of the cluster and the nodes that died within the last hour. */
    public List<NodeInfo> nodes() {
        refuseIfClosed();
        return storage.nodes().list().stream().map(ApiValues::toNodeInfo).toList();
    }

    private void notifyListeners(ScheduleEvent event) {
        Engine running = engine;
        if (running != null) running.announce(event);
        else parts.listeners().onCallingThread().schedules().onScheduleEvent(event);
    }

    /** Lets the node of this process dispatch events. Without a node, the publish has sent a notification. */
    private void wakeDispatcher() {
        Engine running = engine;
        if (running != null) running.announceEvents();
    }

    /** Lets the node of this process look at a workflow. Without a node, the signal has sent a notification. */
    private void announceSignal(RunWaitStore.RunKey workflow) {
        Engine running = engine;
        if (running != null) running.announceSignal(workflow);
        else runWriter.sendMessageFor(workflow);
    }

    private void wakeNodes() {
        Engine running = engine;
        if (running != null) running.announceChanges();
        else if (config.wakeup().notifies())
            RunWriter.quietly(() -> storage.wake().send(List.of(new Hint.CheckAll())));
    }

    private void refuseIfClosed() {
        if (closed.get())
            throw new CarillonException(ErrorCode.ALREADY_CLOSED, "This Carillon instance is closed. Build a new one.");
    }

    /**
     * Stops this instance: stops claiming, waits for running attempts up to the shutdown timeout (default: 30 seconds),
     * releases the remaining runs to other nodes and deregisters the node. The data source stays open. Calling this
     * method again has no effect.
     */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) return;
        synchronized (this) {
            Engine running = engine;
            if (running != null) running.close();
            BoundedWait boundedWait =
                    running == null ? BoundedWait.FULL_TIME : new BoundedWait(running::isDatabaseUnreachable);
            statsWriter.stop(boundedWait);
            storage.close();
        }
    }
}
