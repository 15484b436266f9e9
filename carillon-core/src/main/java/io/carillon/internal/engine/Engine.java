package io.carillon.internal.engine;

import io.carillon.NodeConfig;
import io.carillon.NodeStatus;
import io.carillon.Wakeup;
import io.carillon.internal.engine.attempt.ActiveAttempt;
import io.carillon.internal.engine.attempt.ActiveAttempts;
import io.carillon.internal.engine.attempt.AttemptRunner;
import io.carillon.internal.engine.attempt.AttemptWatchdog;
import io.carillon.internal.engine.attempt.Completer;
import io.carillon.internal.engine.attempt.HandlerRegistry;
import io.carillon.internal.engine.attempt.ReadyQueue;
import io.carillon.internal.engine.attempt.TransactionalCalls;
import io.carillon.internal.engine.attempt.Workers;
import io.carillon.internal.engine.claim.ClaimPacing;
import io.carillon.internal.engine.claim.Claimer;
import io.carillon.internal.engine.claim.LaneDueTimes;
import io.carillon.internal.engine.listener.ListenerDispatcher;
import io.carillon.internal.engine.listener.Listeners;
import io.carillon.internal.engine.listener.LoopReports;
import io.carillon.internal.engine.loop.BoundedWait;
import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.engine.node.Heartbeat;
import io.carillon.internal.engine.node.Maintenance;
import io.carillon.internal.engine.node.Node;
import io.carillon.internal.engine.node.Rescuer;
import io.carillon.internal.engine.relay.RelayAndSourceLoops;
import io.carillon.internal.engine.wakeup.WakeupController;
import io.carillon.internal.run.Lane;
import io.carillon.internal.run.NewRun;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.node.NodeRegistration;
import io.carillon.internal.store.run.RunWaitStore;
import io.carillon.internal.value.ControlCharacters;
import io.carillon.internal.value.DatabaseClock;
import io.carillon.internal.value.PublicId;
import io.carillon.run.RunId;
import io.carillon.spi.ScheduleEvent;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One running node. Creates the loops, starts them in order and stops them in order. */
public final class Engine implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Engine.class);

    private final LoopReports reports = new ReportDispatcher(this);
    private final NodeConfig config;
    private final Storage storage;
    private final EngineParts.NodeIdentity identity;
    final Node node;
    private final ReadyQueue queue;
    private final LaneDueTimes laneDueTimes;
    private final AttemptRunner runner;
    private final Workers workers;
    private final Completer completer;
    final Claimer claimer;
    private final ClaimPacing claimPacing;
    final GatePromoter gatePromoter;
    final WaitResolver waitResolver;
    private final Heartbeat heartbeat;
    final Rescuer rescuer;
    private final PlanningLoop planning;
    private final EventDispatcher eventDispatcher;
    private final @Nullable ClaimLeader claimLeader;
    final RelayAndSourceLoops relaysAndSources;
    private final AttemptWatchdog watchdog;
    private final Maintenance maintenance;
    final Maintenance.SchemaWatch schemaWatch;
    final WakeupController wakeupController;
    private final ListenerDispatcher listenerDispatcher;
    final OutcomeReporter outcomeReporter;
    final NodeStatusReader statusReader;
    final HintDispatcher hintDispatcher;

    public Engine(EngineParts parts, NodeConfig config) {
        this.config = config;
        storage = parts.storage();
        identity = parts.identity();
        DatabaseClock clock = storage.clock();
        HandlerRegistry handlers = new HandlerRegistry(parts.handlers());
        int transactionSlots = Math.max(1, config.transactionalConcurrency());
        listenerDispatcher = new ListenerDispatcher(parts.listeners());
        Listeners.EngineListeners listeners = parts.stats().countingBefore(listenerDispatcher.asListeners());
        queue = new ReadyQueue(config.concurrency(), handlers.haveSeveralQueues());
        queue.limitTransactional(one -> handlers.isTransactional(one.attemptValue()), transactionSlots);
        laneDueTimes = new LaneDueTimes(queue::capacity);
        ActiveAttempts activeAttempts = new ActiveAttempts(reports);
        node = new Node(activeAttempts, handlers, clock, this::dispatch);
        completer =
                new Completer(storage.runs(), activeAttempts, listeners.attempts(), reports, () -> queue.size() > 0);
        TransactionalCalls transactions = new TransactionalCalls(parts.connections(), storage.runs(), transactionSlots);
        runner = new AttemptRunner(handlers, completer, transactions, listeners.attempts());
        workers = new Workers(queue, config.concurrency(), this::run);
        watchdog = new AttemptWatchdog(storage.runs(), activeAttempts, runner, workers, queue::recordSlowRun);
        wakeupController = new WakeupController(storage.wake(), clock, config);
        claimPacing = new ClaimPacing(workers, queue, completer, config);
        claimer = new Claimer(storage, node, laneDueTimes, claimPacing, wakeupController, reports);
        outcomeReporter = new OutcomeReporter(storage.lanes(), node::id, reports);
        gatePromoter = new GatePromoter(storage.gates(), clock, node.clusterSize(), reports, listeners.schedules());
        waitResolver = new WaitResolver(storage.runWaits(), storage.workflowSignals(), node.clusterSize(), reports);
        rescuer = new Rescuer(storage, node, reports);
        heartbeat = new Heartbeat(storage.nodes(), node, config, this::registration, reports);
        planning =
                new PlanningLoop(storage.plans(), parts.planner(), this::planInterval, listeners.schedules(), reports);
        if (config.planning() == NodeConfig.Planning.LEADER)
            planning.planOnlyAsLeader(node::id, config.leaderLease(), config.leaderCheckInterval());
        claimLeader = config.claiming() == NodeConfig.Claiming.LEADER ? claimOnlyAsLeader() : null;
        eventDispatcher = new EventDispatcher(storage.eventDispatch(), clock, node.clusterSize(), reports);
        relaysAndSources =
                new RelayAndSourceLoops(parts.relaysAndSources(), storage.relays(), node::id, this::announceEvents);
        maintenance = new Maintenance(storage.maintenance(), config, completer::endedCount);
        schemaWatch = new Maintenance.SchemaWatch(storage::outdated, this::leaveWorkToNewerNodes);
        statusReader =
                new NodeStatusReader(node, workers, config.concurrency(), wakeupController, claimer, rescuer, planning);
        HintDispatcher.RunCreators runCreators = new HintDispatcher.RunCreators(planning, eventDispatcher);
        HintDispatcher.Releases releases = new HintDispatcher.Releases(gatePromoter, waitResolver);
        hintDispatcher = new HintDispatcher(node, claimer, releases, runCreators, heartbeat, wakeupController);
        queue.onCapacity(this::capacityFreed);
        clock.onSetBack(this::clockSetBack);
        node.clusterSize().onShrunk(this::clusterShrunk);
    }

    private ClaimLeader claimOnlyAsLeader() {
        ClaimLeader leader = new ClaimLeader(
                storage.plans(), node::id, config.leaderLease(), config.leaderCheckInterval(), claimer::pollAllNow);
        claimer.claimOnlyWhile(leader::isLeading);
        node.clusterSize().workAlone();
        return leader;
    }

    /** Starts the loops. When it returns, the node is registered and the partitions exist. */
    public void start() {
        maintenance.prepare();
        heartbeat.register();
        permanentLoops().forEach(Loop::start);
        leaderLoop().forEach(Loop::start);
        relaysAndSources.loops().forEach(Loop::start);
        wakeupController.start(new WakeupController.WakeupHandlers(
                hintDispatcher::handleHint, lane -> claimer.hint(lane, Instant.EPOCH), claimer::pollAllNow));
        log.info(
                "node started node={} name={} handlers={} slots={} wakeup={}",
                PublicId.ofNode(node.id()),
                ControlCharacters.escape(identity.name()),
                node.handlers().names().size(),
                config.concurrency(),
                wakeupController.wakeup().mode().text());
    }

    /** Returns the loops that live as long as the node. The loops for wake-ups may change. */
    private List<Loop> permanentLoops() {
        return List.of(
                heartbeat.loop(),
                rescuer.loop(),
                completer.loop(),
                watchdog.loop(),
                planning.loop(),
                eventDispatcher.loop(),
                maintenance.loop(),
                schemaWatch.loop(),
                gatePromoter.loop(),
                waitResolver.loop(),
                outcomeReporter.loop(),
                claimer.loop(),
                claimer.newLaneLoop(),
                listenerDispatcher.loop());
    }

    /** Stops claiming and planning because the schema needs a newer version. Attempts that are running continue. */
    private void leaveWorkToNewerNodes() {
        claimer.stopClaiming();
        relaysAndSources.stop(BoundedWait.FULL_TIME);
        queue.close().forEach(completer::handBack);
        Loop.stopAll(leaderLoop(), BoundedWait.FULL_TIME);
        Loop.stopAll(List.of(planning.loop(), eventDispatcher.loop(), claimer.newLaneLoop()), BoundedWait.FULL_TIME);
    }

    private List<Loop> leaderLoop() {
        ClaimLeader leader = claimLeader;
        return leader == null ? List.of() : List.of(leader.loop());
    }

    private Stream<Loop> loops() {
        return Stream.of(permanentLoops(), leaderLoop(), relaysAndSources.loops(), wakeupController.loops())
                .flatMap(List::stream);
    }

    /**
     * Changes the wake-up mode while the node runs. {@link Wakeup.Mode#HTTP} has no running node; close
     * the engine instead.
     */
    public void changeWakeup(Wakeup wakeup) {
        wakeupController.changeTo(wakeup);
        try {
            heartbeat.register();
        } catch (RuntimeException failure) {
            log.warn("could not publish the new wake-up mode node={}", PublicId.ofNode(node.id()), failure);
        }
    }

    private NodeRegistration registration(UUID id) {
        return new NodeRegistration(
                id,
                identity.name(),
                identity.host(),
                identity.pid(),
                identity.version(),
                node.handlers().names(),
                node.handlers().workflows(),
                config.concurrency(),
                wakeupController.wakeup().mode().text());
    }

    private void dispatch(List<ActiveAttempt> claimed, boolean ahead) {
        queue.add(claimed, ahead).forEach(completer::handBack);
        workers.startWorkerIfNeeded();
    }

    /**
     * Runs an attempt. An attempt that fails without an outcome is removed here, so that the next reconciliation hands
     * it back.
     */
    private void run(ActiveAttempt activeAttempt) {
        claimPacing.recordStart();
        boolean succeeded = false;
        try {
            runner.run(activeAttempt);
            succeeded = true;
        } finally {
            if (!succeeded) {
                node.activeAttempts().removeUnconfirmed(activeAttempt);
                claimer.reconcileSoon();
            }
        }
    }

    private Duration planInterval() {
        Duration interval = config.planInterval();
        return node.clusterSize().scaledInterval(interval, interval.multipliedBy(6));
    }

    private void clusterShrunk() {
        planning.planNow();
        claimer.pollNow();
    }

    /**
     * Discards instants that were read before the database clock was set back, because they may be far in the future.
     */
    private void clockSetBack() {
        log.warn("database clock was set back; reading due times again node={}", PublicId.ofNode(node.id()));
        laneDueTimes.clear();
        claimer.pollAllNow();
        gatePromoter.checkNow();
        planning.planNow();
    }

    /** Announces a run that this process has just committed: to this node immediately, to other nodes by a hint. */
    public void announce(NewRun run) {
        hintDispatcher.announce(run);
    }

    /** Looks whether a workflow waits for a signal that this process has just committed. */
    public void announceSignal(RunWaitStore.RunKey workflow) {
        waitResolver.waitStored(workflow);
    }

    /** Dispatches events that this process has just published. Other nodes learn of the runs. */
    public void announceEvents() {
        eventDispatcher.loop().wake();
    }

    private void capacityFreed(Lane lane) {
        laneDueTimes.recordCapacityFreed(lane, node.clock().now());
        claimer.loop().wake();
    }

    /** Notifies all nodes, including this one, that schedules changed or runs became claimable. */
    public void announceChanges() {
        hintDispatcher.announceChanges();
    }

    /**
     * Stops everything after this node was declared dead: queued attempts are discarded and running ones are
     * asked to stop.
     */
    void stopAllAttempts() {
        queue.clear().forEach(node.activeAttempts()::remove);
        node.activeAttempts()
                .all()
                .forEach(activeAttempt ->
                        activeAttempt.stop(ActiveAttempt.StopCause.LEASE_LOST, "this node was declared dead"));
    }

    /** Writes a schedule event to the log and notifies the listeners. */
    public void announce(ScheduleEvent event) {
        listenerDispatcher.asListeners().schedules().onScheduleEvent(event);
    }

    /** Returns the current id of this node. */
    public UUID nodeId() {
        return node.id();
    }

    /** Returns the status of the loops and counts since the start. */
    public NodeStatus status() {
        return statusReader.read(loops());
    }

    /** Returns whether the last heartbeats did not reach the database. */
    public boolean isDatabaseUnreachable() {
        return heartbeat.isDatabaseUnreachable();
    }

    /** Returns the runs that this node holds. */
    public List<RunId> activeRuns() {
        return node.activeAttempts().all().stream().map(ActiveAttempt::id).toList();
    }

    /**
     * Stops claiming, waits for running attempts, hands back the rest without counting an attempt, and retires the
     * node. Heartbeats continue until the end. If the database is unreachable, it does not wait: no result can be
     * written and no run handed back, so other nodes rescue the runs.
     */
    @Override
    public void close() {
        claimer.stopClaiming();
        queue.close().forEach(completer::handBack);
        BoundedWait boundedWait = new BoundedWait(heartbeat::isDatabaseUnreachable);
        BooleanSupplier idle = () -> node.activeAttempts().size() == 0;
        boundedWait.until(idle, config.shutdownTimeout());
        node.activeAttempts()
                .all()
                .forEach(activeAttempt ->
                        activeAttempt.stop(ActiveAttempt.StopCause.NODE_STOPPING, "the node is stopping"));
        boundedWait.until(idle, Duration.ofSeconds(1));
        node.activeAttempts().all().stream()
                .filter(ActiveAttempt::isRunning)
                .filter(ActiveAttempt::tryEnd)
                .forEach(completer::handBack);
        boundedWait.until(idle, Duration.ofSeconds(5));
        Loop.stopAll(leaderLoop(), boundedWait);
        relaysAndSources.stop(boundedWait);
        runLoggingFailure("stop receiving hints", () -> wakeupController.stopReceiving(boundedWait));
        Loop.stopAll(
                List.of(
                        claimer.loop(),
                        claimer.newLaneLoop(),
                        gatePromoter.loop(),
                        waitResolver.loop(),
                        outcomeReporter.loop(),
                        planning.loop(),
                        eventDispatcher.loop(),
                        rescuer.loop(),
                        watchdog.loop(),
                        maintenance.loop(),
                        schemaWatch.loop(),
                        wakeupController.wakeupSender().loop()),
                boundedWait);
        // A claim that was sent before the stop may have returned only now.
        boundedWait.until(idle, Duration.ofSeconds(5));
        Loop.stopAll(List.of(completer.loop()), boundedWait);
        Loop.stopAll(List.of(heartbeat.loop()), boundedWait);
        // Do not wait for a listener that hangs.
        boundedWait.until(listenerDispatcher::isIdle, Duration.ofSeconds(2));
        Loop.stopAll(List.of(listenerDispatcher.loop()), new BoundedWait(() -> true));
        runLoggingFailure("stop workers", workers::close);
        if (!heartbeat.isDatabaseUnreachable()) runLoggingFailure("hand back unanswered claims", claimer::handBackAll);
        runLoggingFailure("retire the node", heartbeat::retire);
        log.info("node stopped node={}", PublicId.ofNode(node.id()));
    }

    /** Runs one step of the shutdown. A failed step must not stop the others, or threads and connections would leak. */
    private void runLoggingFailure(String what, Runnable step) {
        try {
            step.run();
        } catch (Throwable failure) {
            log.warn("shutdown step failed step='{}' node={}", what, PublicId.ofNode(node.id()), failure);
        }
    }
}
