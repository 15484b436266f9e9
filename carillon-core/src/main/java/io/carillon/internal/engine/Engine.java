package io.carillon.internal.engine;

import io.carillon.NodeConfig;
import io.carillon.NodeStatus;
import io.carillon.Wakeup;
import io.carillon.internal.engine.attempt.ActiveAttempt;
import io.carillon.internal.engine.attempt.ActiveAttempts;
import io.carillon.internal.engine.attempt.AttemptRunner;
import io.carillon.internal.engine.attempt.AttemptWatchdog;
import io.carillon.internal.engine.attempt.BoundHandler;
import io.carillon.internal.engine.attempt.Completer;
import io.carillon.internal.engine.attempt.HandlerRegistry;
import io.carillon.internal.engine.attempt.ReadyQueue;
import io.carillon.internal.engine.attempt.TransactionalCalls;
import io.carillon.internal.engine.attempt.Workers;
import io.carillon.internal.engine.claim.ClaimExecutor;
import io.carillon.internal.engine.claim.ClaimSizer;
import io.carillon.internal.engine.claim.Claimer;
import io.carillon.internal.engine.claim.LaneDueTimes;
import io.carillon.internal.engine.claim.NewLaneClaimer;
import io.carillon.internal.engine.listener.ListenerDispatcher;
import io.carillon.internal.engine.listener.Listeners;
import io.carillon.internal.engine.loop.BoundedWait;
import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.engine.node.Heartbeat;
import io.carillon.internal.engine.node.Maintenance;
import io.carillon.internal.engine.node.Node;
import io.carillon.internal.engine.node.Rescuer;
import io.carillon.internal.engine.wakeup.WakeupController;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Gate;
import io.carillon.internal.run.Lane;
import io.carillon.internal.run.NewRun;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.node.NodeRegistration;
import io.carillon.internal.store.node.Signal;
import io.carillon.internal.store.run.GateName;
import io.carillon.internal.value.ControlCharacters;
import io.carillon.internal.value.DatabaseClock;
import io.carillon.run.Enqueue;
import io.carillon.run.RunId;
import io.carillon.spi.ScheduleEvent;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One running node. Creates the loops, starts them in order and stops them in order. */
public final class Engine implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Engine.class);

    private final NodeConfig config;
    private final Storage storage;
    private final EngineParts.NodeIdentity identity;
    private final Node node;
    private final ReadyQueue queue;
    private final LaneDueTimes laneDueTimes;
    private final Workers workers;
    private final Completer completer;
    private final Claimer claimer;
    private final NewLaneClaimer newLaneClaimer;
    private final GatePromoter gatePromoter;
    private final Heartbeat heartbeat;
    private final Rescuer rescuer;
    private final PlanningLoop planning;
    private final AttemptWatchdog watchdog;
    private final Maintenance maintenance;
    private final Maintenance.SchemaWatch schemaWatch;
    private final WakeupController wakeupController;
    private final WakeupController.BacklogBroadcaster backlogBroadcaster;
    private final ListenerDispatcher listenerDispatcher;
    private final OutcomeReporter outcomeReporter;
    private final NodeStatusReader statusReader;

    public Engine(EngineParts parts, NodeConfig config) {
        this.config = config;
        this.storage = parts.storage();
        this.identity = parts.identity();
        DatabaseClock clock = storage.clock();
        long queues = parts.handlers().values().stream()
                .map(BoundHandler::queue)
                .distinct()
                .count();
        queue = new ReadyQueue(config.concurrency(), queues > 1);
        laneDueTimes = new LaneDueTimes(queue::capacity);
        ActiveAttempts activeAttempts = new ActiveAttempts();
        node = new Node(activeAttempts, new HandlerRegistry(parts.handlers()), clock, this::dispatch);
        listenerDispatcher = new ListenerDispatcher(parts.listeners());
        Listeners.EngineListeners listeners = listenerDispatcher.asListeners();
        completer = new Completer(storage.runs(), activeAttempts, listeners.attempts());
        TransactionalCalls transactions = new TransactionalCalls(
                parts.connections(), storage.runs(), Math.max(1, config.transactionalConcurrency()));
        AttemptRunner runner = new AttemptRunner(node.handlers(), completer, transactions, listeners.attempts());
        // The claimer calls the claim sizer and the workers update it, but the sizer needs the workers;
        // hence the array.
        ClaimSizer[] claimSizer = new ClaimSizer[1];
        workers = new Workers(queue, config.concurrency(), activeAttempt -> {
            claimSizer[0].recordStart();
            run(runner, activeAttempt);
        });
        queue.limitTransactional(
                activeAttempt -> node.handlers().find(activeAttempt.attemptValue()).stream()
                        .anyMatch(BoundHandler::transactional),
                Math.max(1, config.transactionalConcurrency()));
        claimSizer[0] = new ClaimSizer(workers, queue, completer, config);
        wakeupController = new WakeupController(storage.wake(), clock, config);
        backlogBroadcaster =
                new WakeupController.BacklogBroadcaster(node.clusterSize(), wakeupController.wakeupSender());
        ClaimExecutor claimExecutor = new ClaimExecutor(storage, laneDueTimes, node, backlogBroadcaster);
        claimer = new Claimer(
                storage, claimExecutor, laneDueTimes, node, claimSizer[0], backlogBroadcaster, wakeupController);
        newLaneClaimer = new NewLaneClaimer(claimExecutor, laneDueTimes, node, claimSizer[0], claimer::reconcileSoon);
        completer.onWritten(claimer::wake);
        activeAttempts.onSkipped(claimer::reconcileSoon);
        queue.onCapacity(this::capacityFreed);
        outcomeReporter = new OutcomeReporter(storage.lanes(), node::id, claimer::pollNow);
        completer.onEnded(this::ended);
        claimer.onOpenBreakers(outcomeReporter::setOpenBreakers);
        completer.onRetryScheduled(
                (attempt, pause) -> retryScheduled(attempt, clock.now().plus(pause)));
        gatePromoter =
                new GatePromoter(storage.gates(), clock, node.clusterSize(), this::runsPromoted, listeners.schedules());
        completer.onGateReleased(gatePromoter::runEnded);
        claimer.onGatesExist(gatePromoter::setGatesExist);
        Runnable onRescued = () -> {
            claimer.pollNow();
            gatePromoter.checkNow();
        };
        rescuer = new Rescuer(
                storage, node, onRescued, () -> wakeupController.wakeupSender().sendSignal(new Signal.CheckAll()));
        heartbeat = new Heartbeat(storage.nodes(), node, config, this::registration, rescuer::requestRescue);
        heartbeat.onDeclaredDead(this::stopAllAttempts);
        Duration planInterval = config.planInterval();
        planning = new PlanningLoop(
                storage.plans(),
                parts.planner(),
                this::hintLocally,
                () -> node.clusterSize().scaledInterval(planInterval, planInterval.multipliedBy(6)),
                listeners.schedules());
        statusReader =
                new NodeStatusReader(node, workers, config.concurrency(), wakeupController, claimer, rescuer, planning);
        planning.onPlanned(written -> {
            statusReader.recordPlanned(written.ticks().size());
            PlanningLoop.notifyPlanned(listeners.schedules(), written);
        });
        if (config.planning() == NodeConfig.Planning.LEADER) planning.planOnlyAsLeader(node::id);
        clock.onSetBack(this::clockSetBack);
        node.clusterSize().onShrunk(() -> {
            planning.planNow();
            claimer.pollNow();
        });
        watchdog = new AttemptWatchdog(storage.runs(), activeAttempts, runner, workers, queue::recordSlowRun);
        maintenance = new Maintenance(storage.maintenance(), config, completer::endedCount);
        schemaWatch = new Maintenance.SchemaWatch(storage::outdated, this::leaveWorkToNewerNodes);
        heartbeat.onOutdated(schemaWatch::requestCheck);
    }

    /** Starts the loops. When it returns, the node is registered and the partitions exist. */
    public void start() {
        maintenance.prepare();
        heartbeat.register();
        permanentLoops().forEach(Loop::start);
        wakeupController.start(new WakeupController.WakeupHandlers(
                this::handleSignal, lane -> hintLocally(lane, Instant.EPOCH), claimer::pollAllNow));
        log.info(
                "node started node={} name={} handlers={} slots={} wakeup={}",
                node.id(),
                ControlCharacters.escape(identity.name()),
                node.handlers().names().size(),
                config.concurrency(),
                wakeupController.wakeup().mode().text());
    }

    /** Returns the loops that live as long as the node. The loops for wake-ups may change. */
    private List<Loop> permanentLoops() {
        return List.of(
                heartbeat,
                rescuer,
                completer,
                watchdog,
                planning,
                maintenance,
                schemaWatch,
                gatePromoter,
                outcomeReporter,
                claimer,
                newLaneClaimer,
                listenerDispatcher);
    }

    /** Stops claiming and planning because the schema needs a newer version. Attempts that are running continue. */
    private void leaveWorkToNewerNodes() {
        claimer.stopClaiming();
        queue.close().forEach(completer::handBack);
        Loop.stopAll(List.of(planning, newLaneClaimer), BoundedWait.FULL_TIME);
    }

    private Stream<Loop> loops() {
        return Stream.concat(permanentLoops().stream(), wakeupController.loops().stream());
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
            log.warn("could not publish the new wake-up mode node={}", node.id(), failure);
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
    private void run(AttemptRunner runner, ActiveAttempt activeAttempt) {
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

    /**
     * Discards instants that were read before the database clock was set back, because they may be far in the future.
     */
    private void clockSetBack() {
        log.warn("database clock was set back; reading due times again node={}", node.id());
        laneDueTimes.clear();
        claimer.pollAllNow();
        gatePromoter.checkNow();
        planning.planNow();
    }

    /** Announces a run that this process has just committed: to this node immediately, to other nodes by a signal. */
    public void announce(NewRun run) {
        Gate gate = run.gate();
        if (gate != null) {
            gatePromoter.requestPromotion(new GateName(run.lane().project(), gate.name()));
            gatePromoter.expectArrival(readyAt(run.due()));
            return;
        }
        announce(run.lane(), readyAt(run.due()));
    }

    private void capacityFreed(Lane lane) {
        laneDueTimes.recordCapacityFreed(lane, node.clock().now());
        claimer.wake();
    }

    private void ended(Lane lane, Transition transition) {
        claimer.runEnded(lane);
        outcomeReporter.ended(lane, transition);
    }

    private void retryScheduled(Attempt attempt, Instant at) {
        if (attempt.gate() != null) gatePromoter.expectArrival(at);
        hintLocally(attempt.lane(), at);
    }

    private void announce(Lane lane, Instant readyAt) {
        hintLocally(lane, readyAt);
        wakeupController.wakeupSender().announceWork(lane, readyAt);
    }

    /** Announces that a gate let runs of this lane through. */
    private void runsPromoted(Lane lane) {
        announce(lane, Instant.EPOCH);
    }

    private Instant readyAt(Enqueue.Due due) {
        if (due instanceof Enqueue.Due.At at) return at.instant();
        Duration delay = ((Enqueue.Due.After) due).delay();
        return delay.isZero() ? Instant.EPOCH : node.clock().now().plus(delay);
    }

    /** Notifies all nodes, including this one, that schedules changed or runs became claimable. */
    public void announceChanges() {
        planning.planNow();
        claimer.pollNow();
        gatePromoter.checkNow();
        wakeupController.wakeupSender().sendSignal(new Signal.CheckAll());
    }

    private void hintLocally(Lane lane, Instant readyAt) {
        if (laneDueTimes.hint(lane, readyAt, node.clock().now())) newLaneClaimer.hintNewWork();
        claimer.hintNewWork();
    }

    private void handleWork(Signal.Work work) {
        if (!node.clusterSize().isSelected(work.randomNumber())) return;
        if (workers.busySlots() >= config.concurrency() || queue.capacity(work.lane()) == 0)
            backlogBroadcaster.reportBacklog(work.lane());
        // This node has already acted on its own signals.
        if (!wakeupController.isOwn(work)) hintLocally(work.lane(), work.readyAt());
    }

    private void handleSignal(Signal signal) {
        if (signal instanceof Signal.Work work) handleWork(work);
        else if (signal instanceof Signal.GateWaiting gateWaiting) gatePromoter.requestPromotion(gateWaiting.gate());
        else if (signal instanceof Signal.Cancel) heartbeat.wake();
        else if (signal instanceof Signal.CheckAll) {
            planning.planNow();
            heartbeat.wake();
            gatePromoter.checkNow();
            claimer.pollNow();
        }
    }

    /**
     * Stops everything after this node was declared dead: queued attempts are discarded and running ones are
     * asked to stop.
     */
    private void stopAllAttempts() {
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
        runLoggingFailure("stop receiving signals", () -> wakeupController.stopReceiving(boundedWait));
        Loop.stopAll(
                List.of(
                        claimer,
                        newLaneClaimer,
                        gatePromoter,
                        outcomeReporter,
                        planning,
                        rescuer,
                        watchdog,
                        maintenance,
                        schemaWatch,
                        wakeupController.wakeupSender()),
                boundedWait);
        // A claim that was sent before the stop may have returned only now.
        boundedWait.until(idle, Duration.ofSeconds(5));
        Loop.stopAll(List.of(completer), boundedWait);
        Loop.stopAll(List.of(heartbeat), boundedWait);
        // Do not wait for a listener that hangs.
        boundedWait.until(listenerDispatcher::isIdle, Duration.ofSeconds(2));
        Loop.stopAll(List.of(listenerDispatcher), new BoundedWait(() -> true));
        runLoggingFailure("stop workers", workers::close);
        if (!heartbeat.isDatabaseUnreachable()) runLoggingFailure("hand back unanswered claims", claimer::handBackAll);
        runLoggingFailure("retire the node", heartbeat::retire);
        log.info("node stopped node={}", node.id());
    }

    /** Runs one step of the shutdown. A failed step must not stop the others, or threads and connections would leak. */
    private void runLoggingFailure(String what, Runnable step) {
        try {
            step.run();
        } catch (Throwable failure) {
            log.warn("shutdown step failed step='{}' node={}", what, node.id(), failure);
        }
    }
}
