package io.carillon.internal.engine;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.engine.attempt.ActiveAttempt;
import io.carillon.internal.engine.attempt.ActiveAttempts;
import io.carillon.internal.engine.attempt.AttemptRunner;
import io.carillon.internal.engine.attempt.AttemptWatchdog;
import io.carillon.internal.engine.attempt.HandlerRegistry;
import io.carillon.internal.engine.attempt.ReadyQueue;
import io.carillon.internal.engine.attempt.TransactionalCalls;
import io.carillon.internal.engine.claim.ClaimExecutor;
import io.carillon.internal.engine.claim.LaneDueTimes;
import io.carillon.internal.engine.listener.Listeners;
import io.carillon.internal.engine.listener.LoopReports;
import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.engine.node.ClusterSize;
import io.carillon.internal.engine.node.Node;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Lane;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.run.ClaimRequest;
import io.carillon.internal.store.run.EndedAttempt;
import io.carillon.internal.store.run.GateName;
import io.carillon.internal.store.run.LaneDue;
import io.carillon.internal.store.run.OwnedRun;
import io.carillon.internal.store.run.QueueHead;
import io.carillon.internal.store.run.RunStore;
import io.carillon.internal.store.run.RunWaitStore;
import io.carillon.internal.store.run.WriteResult;
import io.carillon.internal.value.DatabaseClock;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.spi.ExecuteResult;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Plans, claims and executes on the caller's thread until nothing is due or the budget is spent. Meant for serverless
 * functions and external cron services. There is no heartbeat, so each run is leased for 30 s. A helper thread that
 * lives as long as the call renews the leases and enforces the timeouts. Runs that were claimed but not started are
 * handed back immediately.
 *
 * <p>{@link #execute} does the same for one run, which the caller names.
 */
public final class DueRunExecutor {
    private static final Logger log = LoggerFactory.getLogger(DueRunExecutor.class);
    /** The claim size per lane that is due, limited by {@link #MAX_CLAIM} in total. */
    private static final int CLAIM_PER_LANE = 10;

    private static final int MAX_CLAIM = 100;
    private static final int CRASH_LIMIT = 3;
    private static final Duration DEFAULT_LEASE = Duration.ofSeconds(30);
    /** More than one, so that a lease survives a renewal that fails or is late. */
    private static final int RENEWALS_PER_LEASE = 3;

    private final Storage storage;
    private final HandlerRegistry handlers;
    private final EngineParts parts;
    private final Listeners.EngineListeners listeners;
    private final DatabaseClock clock;
    private final Duration lease;

    public DueRunExecutor(EngineParts parts) {
        this(parts, DEFAULT_LEASE);
    }

    /** Creates an executor with another lease than 30 s. Only tests use this. */
    public DueRunExecutor(EngineParts parts, Duration lease) {
        this.storage = parts.storage();
        this.clock = storage.clock();
        this.handlers = new HandlerRegistry(parts.handlers());
        this.parts = parts;
        this.listeners = parts.stats().countingBefore(parts.listeners().onCallingThread());
        this.lease = lease;
    }

    /** The number of attempts that one call executed, and of those that failed or could not be recorded. */
    public record Result(int processed, int errors) {}

    /** Works for about the given time. An attempt that is running when the budget ends is not interrupted. */
    public Result runDue(Duration budget) {
        long deadline = System.nanoTime() + budget.toNanos();
        storage.maintenance().ensurePartitions(1);
        storage.maintenance().reservePages();
        storage.nodes().rescue(CRASH_LIMIT);
        // No node registers here, so nothing else would release runs that are parked for a handler that
        // this process has.
        storage.nodes().wakeParkedRuns(handlers.names());
        PlanningLoop planning = new PlanningLoop(
                storage.plans(), parts.planner(), () -> Duration.ofHours(1), listeners.schedules(), LoopReports.NONE);
        planning.plan();
        dispatchEvents(deadline - budget.toNanos() / 2);
        Invocation invocation = new Invocation(deadline);
        invocation.waitResolver.resolveAllOnce();
        try (Loop renewals = new LeaseRenewer(invocation).loop) {
            renewals.start();
            while (invocation.round()) {
                // Continue until nothing is due or the budget is spent.
            }
        }
        invocation.outcomeReporter.report();
        replanZones(planning, deadline);
        writeStats();
        return new Result(invocation.processed, invocation.errors.get());
    }

    /**
     * Executes one attempt of this run, if it can be claimed now. First looks whether the run can be released from what
     * holds it: an expired lease, a wait whose answer is there, a gate that lets it pass.
     */
    public ExecuteResult execute(String project, RunId id) {
        Run run = storage.runAdmin().get(project, id).orElse(null);
        if (run == null) return new ExecuteResult.Unknown();
        if (run.instants().endedAt() != null) return new ExecuteResult.Ended(run.state());
        if (handlers.find(run.target()).isEmpty())
            throw new CarillonException(
                    ErrorCode.UNKNOWN_HANDLER,
                    ("This process has no handler '%s', so it cannot execute run %s. Execute the run in a process that "
                                    + "has the handler, or leave it to a node that has it.")
                            .formatted(run.target().name(), id));
        Invocation invocation =
                new Invocation(System.nanoTime() + Duration.ofDays(365).toNanos());
        invocation.observeQueue();
        invocation.release(run);
        Optional<Attempt> claimed = invocation.claim(run);
        if (claimed.isEmpty()) return explain(project, id);
        try (Loop renewals = new LeaseRenewer(invocation).loop) {
            renewals.start();
            invocation.runClaimed(claimed.get());
        }
        invocation.passOn(claimed.get());
        writeStats();
        boolean failed = invocation.errors.get() > 0;
        return storage.runAdmin()
                .get(project, id)
                .<ExecuteResult>map(after -> new ExecuteResult.Executed(after, failed))
                .orElseGet(ExecuteResult.Unknown::new);
    }

    /** Returns why a run was not claimed. */
    private ExecuteResult explain(String project, RunId id) {
        Run run = storage.runAdmin().get(project, id).orElse(null);
        if (run == null) return new ExecuteResult.Unknown();
        if (run.instants().endedAt() != null) return new ExecuteResult.Ended(run.state());
        if (run.state() == RunState.RUNNING) return new ExecuteResult.Running(run.attempt());
        Instant readyAt = run.instants().readyAt();
        if (readyAt != null && readyAt.isAfter(clock.now())) return new ExecuteResult.NotDue(readyAt);
        return new ExecuteResult.NotReady(storage.runAdmin()
                .explain(project, id)
                .map(why -> why.blockers().isEmpty() ? why.summary() : String.join("; ", why.blockers()))
                .orElse("The run has just ended."));
    }

    private void dispatchEvents(long until) {
        EventDispatcher dispatcher =
                new EventDispatcher(storage.eventDispatch(), clock, new ClusterSize(), LoopReports.NONE);
        do {
            dispatcher.dispatch();
        } while (dispatcher.isUnfinished() && System.nanoTime() - until < 0);
    }

    /** Writes what this call counted. The result of the executed runs must not be lost if that fails. */
    private void writeStats() {
        try {
            parts.stats().write();
        } catch (RuntimeException failure) {
            log.warn("could not write statistics; the next call tries again", failure);
        }
    }

    /** Runs come first; the rest of the budget serves schedules with older zone rules. */
    private static void replanZones(PlanningLoop planning, long deadline) {
        try {
            while (planning.hasMoreZones() && System.nanoTime() - deadline < 0) planning.plan();
        } catch (RuntimeException failure) {
            // The result of the executed runs must not be lost.
            log.warn("could not replan for new time zone rules; the next call continues", failure);
        }
    }

    /** Renews the leases of one call and stops attempts that exceed their timeout. */
    private final class LeaseRenewer implements Loop.Task {
        private static final long ROUND_NANOS = 100_000_000L;
        private final Loop loop = new Loop("lease-renew", true, this);
        private final long renewNanos = lease.dividedBy(RENEWALS_PER_LEASE).toNanos();
        private final Invocation invocation;
        private long renewed = System.nanoTime();

        LeaseRenewer(Invocation invocation) {
            this.invocation = invocation;
        }

        @Override
        public void runRound() throws InterruptedException {
            for (ActiveAttempt activeAttempt : invocation.activeAttempts.all())
                if (activeAttempt.isStarted()) AttemptWatchdog.stopOverdue(activeAttempt, invocation.runner);
            if (System.nanoTime() - renewed >= renewNanos) renew();
            loop.sleep(ROUND_NANOS);
        }

        private void renew() {
            List<OwnedRun> held = invocation.activeAttempts.all().stream()
                    .map(ActiveAttempts::toOwnedRun)
                    .toList();
            for (OwnedRun lost : held.isEmpty() ? held : storage.nodes().renewLeases(invocation.owner, held, lease))
                invocation
                        .activeAttempts
                        .find(lost.run())
                        .ifPresent(one -> one.stop(ActiveAttempt.StopCause.LEASE_LOST, "the lease was lost"));
            renewed = System.nanoTime();
        }
    }

    private final class Invocation implements AttemptRunner.ResultSink {
        private final UUID owner;
        private final long deadline;
        private final RunStore runs = storage.runs();
        private final AttemptRunner runner;
        private final GatePromoter gatePromoter =
                new GatePromoter(storage.gates(), clock, new ClusterSize(), LoopReports.NONE, listeners.schedules());
        private final WaitResolver waitResolver =
                new WaitResolver(storage.runWaits(), storage.workflowSignals(), new ClusterSize(), LoopReports.NONE);
        private final OutcomeReporter outcomeReporter;
        private final ReadyQueue queue = new ReadyQueue(1, true);
        private final LaneDueTimes laneDueTimes = new LaneDueTimes(this::capacity);
        private final ActiveAttempts activeAttempts = new ActiveAttempts(LoopReports.NONE);
        private final ClaimExecutor claimExecutor;
        private int processed;
        private final AtomicInteger errors = new AtomicInteger();

        Invocation(long deadline) {
            Node node = new Node(activeAttempts, handlers, clock, queue::add);
            this.owner = node.id();
            this.deadline = deadline;
            this.outcomeReporter = new OutcomeReporter(storage.lanes(), () -> owner, LoopReports.NONE);
            TransactionalCalls transactions = new TransactionalCalls(parts.connections(), runs, 1);
            this.runner = new AttemptRunner(handlers, this, transactions, listeners.attempts());
            this.claimExecutor = new ClaimExecutor(storage, laneDueTimes, node, lane -> {}, lane -> {}, lease);
        }

        private QueueHead observeQueue() {
            long sent = System.nanoTime();
            QueueHead head = storage.lanes().readQueueHead(Instant.MIN);
            clock.observe(head.now(), sent);
            outcomeReporter.setBreakers(head.breakers());
            waitResolver.setWaitsExist(head.waitsExist());
            claimExecutor.limited(head.limitedLanes());
            return head;
        }

        /** Releases a run whose lease has ended, or whose wait can be resolved, or which its gate lets pass. */
        private void release(Run run) {
            String parked = run.details().parked();
            Instant readyAt = run.instants().readyAt();
            if (run.state() == RunState.RUNNING) storage.nodes().rescue(CRASH_LIMIT);
            else if ("no-handler".equals(parked)) storage.nodes().wakeParkedRuns(handlers.names());
            else if ("gate".equals(parked)) gatePromoter.promoteOnce();
            else if (readyAt == null || readyAt.isAfter(clock.now())) {
                waitResolver.waitStored(new RunWaitStore.RunKey(run.project(), run.id()));
                waitResolver.resolveHints();
            }
        }

        private Optional<Attempt> claim(Run run) {
            Lane lane = new Lane(run.queue(), run.project());
            ClaimRequest request = ClaimRequest.ofRun(owner, lane, run.priority(), run.id(), lease);
            // A lane may have got a limit since the queue was read; then the first claim finds nothing.
            return (claimExecutor.limited(lane) ? storage.lanes().claim(request) : runs.claim(request))
                    .attempts().stream().findFirst();
        }

        /** Lets the runs go on that waited for the end of this attempt. */
        private void passOn(Attempt attempt) {
            outcomeReporter.report();
            waitResolver.resolveHints();
            String gate = attempt.gate();
            if (gate == null) return;
            gatePromoter.runEnded(new GateName(attempt.lane().project(), gate));
            gatePromoter.promoteRequests();
        }

        boolean round() {
            if (isTimeUp()) return false;
            waitResolver.resolveHints();
            gatePromoter.promoteOnce();
            QueueHead head = observeQueue();
            boolean any = head.isolatedRunsWaiting() && runIsolated();
            if (isTimeUp()) return false;
            return claimAndExecute(head) || any;
        }

        /**
         * Claims from the lanes that are due, in batches, until at least one run was claimed. Returns false if nothing
         * could be claimed.
         */
        private boolean claimAndExecute(QueueHead head) {
            List<LaneDue> due = claimExecutor.filterKnownHandlers(dueLanes(head).stream()
                    .filter(one -> !one.readyAt().isAfter(head.now()))
                    .toList());
            laneDueTimes.setWeights(head.weights());
            laneDueTimes.finishPoll(due, head.seenUntil());
            long lanes = due.stream().map(LaneDue::lane).distinct().count();
            int total = (int) Math.min(MAX_CLAIM, CLAIM_PER_LANE * lanes);
            boolean any = false;
            while (!any && !isTimeUp()) {
                List<ClaimRequest.LaneClaim> laneClaims = laneDueTimes.takeLaneClaims(total, head.now());
                if (laneClaims.isEmpty()) break;
                // A run of a limited lane is claimed only when it can start. Otherwise it would occupy capacity of the
                // lane that other nodes could use.
                any = execute(laneClaims, head.now(), true);
                any |= execute(laneClaims, head.now(), false);
            }
            return any;
        }

        /**
         * Claims from the lanes with or without a limit and executes the runs, alternating between projects and lanes.
         * Runs that were not started when the budget ends are handed back.
         */
        private boolean execute(List<ClaimRequest.LaneClaim> laneClaims, Instant now, boolean limited) {
            List<ClaimRequest.LaneClaim> some = laneClaims.stream()
                    .filter(laneClaim -> claimExecutor.limited(laneClaim.lane()) == limited)
                    .toList();
            if (some.isEmpty() || isTimeUp()) return false;
            int claimed = claimExecutor.claim(some, false, now).claimedCount();
            for (ActiveAttempt next = queue.poll(); next != null; next = queue.poll()) {
                if (isTimeUp()) {
                    List<ActiveAttempt> rest = new ArrayList<>(queue.clear());
                    rest.add(next);
                    activeAttempts.handBack(runs, owner, rest);
                    break;
                }
                run(next);
                queue.releaseSlot(next);
            }
            return claimed > 0;
        }

        private int capacity(Lane lane) {
            return claimExecutor.limited(lane) ? 1 : MAX_CLAIM;
        }

        /**
         * Claims and executes one isolated run. Returns false if all of them are claimed, paused, or need a handler
         * that this process does not have.
         */
        private boolean runIsolated() {
            Optional<Attempt> isolated = runs.claimOneIsolated(owner, handlers.names(), lease);
            isolated.ifPresent(this::runClaimed);
            return isolated.isPresent();
        }

        private void runClaimed(Attempt attempt) {
            ActiveAttempt activeAttempt = new ActiveAttempt(owner, attempt, clock);
            activeAttempts.add(activeAttempt);
            run(activeAttempt);
        }

        /**
         * If the queue head is full, runs of a paused lane or of unknown handlers may fill it and hide all other lanes.
         */
        private List<LaneDue> dueLanes(QueueHead head) {
            return head.mayHideDueRuns() ? storage.lanes().scan() : head.lanes();
        }

        private void run(ActiveAttempt activeAttempt) {
            try {
                // The lease was lost while the attempt waited here.
                if (activeAttempt.stopCause() != null) return;
                processed++;
                runner.run(activeAttempt);
                outcomeReporter.reportIfUrgent();
            } finally {
                activeAttempts.remove(activeAttempt);
            }
        }

        private boolean isTimeUp() {
            return System.nanoTime() - deadline >= 0;
        }

        @Override
        public void submit(ActiveAttempt activeAttempt, EndedAttempt endedAttempt) {
            activeAttempts.remove(activeAttempt);
            WriteResult result = WriteResult.LOCKED;
            // The lease is longer than these tries take. A run that is still locked then is executed again after its
            // lease expires.
            for (int tries = 0; tries < 5 && result == WriteResult.LOCKED; tries++)
                result = runs.apply(owner, List.of(endedAttempt)).get(0);
            if (result == WriteResult.ACCEPTED) notifyEnded(activeAttempt, endedAttempt.transition());
            boolean failed = endedAttempt.transition() instanceof Transition.Retry
                    || endedAttempt.transition() instanceof Transition.MarkDead;
            if (failed || result != WriteResult.ACCEPTED) errors.incrementAndGet();
        }

        @Override
        public void handBack(ActiveAttempt activeAttempt) {
            activeAttempts.handBack(runs, owner, List.of(activeAttempt));
        }

        @Override
        public void handleCommitted(ActiveAttempt activeAttempt, Transition transition) {
            notifyEnded(activeAttempt, transition);
        }

        private void notifyEnded(ActiveAttempt activeAttempt, Transition transition) {
            outcomeReporter.ended(activeAttempt.attemptValue().lane(), transition, activeAttempt.isSuccessForBreaker());
            Attempt attempt = activeAttempt.attemptValue();
            waitResolver.transitionWritten(attempt, transition);
            if (activeAttempt.awaitsAnswer() && transition instanceof Transition.Snooze)
                waitResolver.waitStored(new RunWaitStore.RunKey(attempt.lane().project(), attempt.run()));
            listeners.attempts().onAttemptEnded(attempt, transition, activeAttempt.sinceStart());
        }
    }
}
