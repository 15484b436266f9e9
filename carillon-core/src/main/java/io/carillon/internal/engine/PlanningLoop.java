package io.carillon.internal.engine;

import io.carillon.internal.engine.listener.LifecycleLog;
import io.carillon.internal.engine.listener.LoopReports;
import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.run.Lane;
import io.carillon.internal.schedule.PlanEvents;
import io.carillon.internal.schedule.TickPlan;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.store.schedule.PlanStore;
import io.carillon.internal.value.PublicId;
import io.carillon.schedule.Schedule;
import io.carillon.spi.ScheduleEvent;
import io.carillon.spi.ScheduleListener;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates ticks ahead of time. Every node plans. A write succeeds only if the schedule is unchanged, so the first node
 * wins and the others write nothing. The same rule holds in leader mode, so a leader that lost the planning
 * token without knowing it does no harm.
 */
final class PlanningLoop implements Loop.Task {
    private static final Logger log = LoggerFactory.getLogger(PlanningLoop.class);
    private final Loop loop = new Loop("plan", true, this);
    private static final int BATCH = 500;

    /** After a failed round, the token is left to others for this number of check intervals. */
    private static final int TOKEN_PAUSE_CHECKS = 2;

    /** A full round finds schedules whose transaction committed later than this after it read the clock. */
    private static final Duration LATE_COMMIT = Duration.ofSeconds(10);

    /** A round replans at most this many batches for new zone rules: pauses and the planning token wait for its end. */
    private static final int ZONE_BATCHES_PER_ROUND = 5;

    private final PlanStore plans;
    private final TickPlanner planner;
    private final LoopReports reports;
    private final Supplier<Duration> interval;
    private final ScheduleListener scheduleListener;
    private @Nullable Supplier<UUID> tokenCandidate;
    /** A dead leader is replaced within both times together. */
    private Duration lease = Duration.ofSeconds(3);

    private Duration checkInterval = Duration.ofSeconds(1);
    private volatile boolean leading;
    private boolean first = true;
    private long tokenPausedUntil = System.nanoTime();
    /** Full rounds find schedules that changed without being seen by the incremental rounds. */
    private final Loop.CostLimitedTimer fullRounds = new Loop.CostLimitedTimer(Duration.ofSeconds(1));
    /** The rounds of this node left no schedule due before this instant. */
    private Instant nothingDueBefore = Instant.MIN;
    /** Schedules with older zone rules are replanned from here on. */
    private PlanStore.ZonePosition zonePosition = PlanStore.ZonePosition.START;
    /** Whether more schedules with older zone rules may follow, so that the next round must not wait. */
    private boolean moreZones;

    PlanningLoop(
            PlanStore plans,
            TickPlanner planner,
            Supplier<Duration> interval,
            ScheduleListener scheduleListener,
            LoopReports reports) {
        this.plans = plans;
        this.planner = planner;
        this.reports = reports;
        this.interval = interval;
        this.scheduleListener = scheduleListener;
    }

    /** Makes this loop plan only while this node holds the planning token. Must be called before the start. */
    void planOnlyAsLeader(Supplier<UUID> node, Duration tokenLease, Duration interval) {
        tokenCandidate = node;
        lease = tokenLease;
        checkInterval = interval;
    }

    /** Starts a full round soon because schedules changed. */
    void planNow() {
        fullRounds.runSoon();
        loop.wake();
    }

    /** Returns whether this node plans only while it holds the planning token. */
    boolean isLeaderOnly() {
        return tokenCandidate != null;
    }

    /** Returns whether this node holds the planning token. */
    boolean isLeading() {
        return leading;
    }

    /** Returns the thread that repeats this task. */
    Loop loop() {
        return loop;
    }

    @Override
    public void runRound() throws InterruptedException {
        Supplier<UUID> node = tokenCandidate;
        if (node != null) {
            tryToHoldToken(node.get());
            return;
        }
        plan();
        if (moreZones) return;
        if (!first) {
            loop.sleep(interval.get().toNanos());
            return;
        }
        first = false;
        // A random first pause keeps nodes that start together from always planning together.
        loop.sleep(ThreadLocalRandom.current().nextLong(interval.get().toNanos()));
    }

    /**
     * Releases the planning token for a while after a failed round, because this node may be the only one that fails.
     */
    @Override
    public void onFailure(Throwable failure) {
        Supplier<UUID> node = tokenCandidate;
        if (node == null || !leading) return;
        leading = false;
        tokenPausedUntil = System.nanoTime()
                + checkInterval.multipliedBy(TOKEN_PAUSE_CHECKS).toNanos();
        log.warn("planning failed; planning token released node={}", PublicId.ofNode(node.get()));
        plans.releaseToken(node.get());
    }

    private void tryToHoldToken(UUID node) throws InterruptedException {
        if (System.nanoTime() - tokenPausedUntil < 0) {
            loop.sleep(checkInterval.toNanos());
            return;
        }
        boolean held = plans.acquireToken(node, lease);
        if (held != leading)
            log.info(held ? "planning token acquired node={}" : "planning token lost node={}", PublicId.ofNode(node));
        leading = held;
        if (held) plan();
        if (held && moreZones) return;
        loop.sleep(checkInterval.toNanos());
    }

    @Override
    public void onEnd() {
        Supplier<UUID> node = tokenCandidate;
        if (node != null) plans.releaseToken(node.get());
    }

    /** Returns whether the last round left schedules with older zone rules that the next round can replan. */
    boolean hasMoreZones() {
        return moreZones;
    }

    /**
     * Plans in batches until no schedule is due soon, and replans a limited number of schedules for new zone rules.
     * Returns how many schedules moved.
     */
    int plan() {
        boolean fullRound = fullRounds.isDue();
        Instant since = fullRound ? Instant.MIN : nothingDueBefore;
        Round round = new Round(new PlanStore.PlanningWindow(since, planner.replanThreshold(), planner.lookAhead()));
        moreZones = false;
        boolean hasWork = round.hasWork();
        if (!hasWork) zonePosition = PlanStore.ZonePosition.START;
        int moved = hasWork ? round.plan() : 0;
        if (fullRound) fullRounds.recordCost(round.readNanos);
        return moved;
    }

    private final class Round {
        private final PlanStore.PlanningWindow window;
        private long readNanos;
        private @Nullable Throwable failure;

        Round(PlanStore.PlanningWindow window) {
            this.window = window;
        }

        boolean hasWork() {
            return timed(() -> plans.hasWork(window));
        }

        /**
         * Starts and ends pauses in small batches, then plans. A part that fails does not stop the other parts. Each
         * batch for new zone rules is followed by planning, so that due schedules do not wait for all batches.
         */
        int plan() {
            int pausesChanged = runPart(this::updatePauses);
            int moved = runPart(this::planDue);
            int changed = runPart(plans::adaptIntervals);
            int replanned = runPart(this::replanZones);
            if (changed + replanned > 0) moved += planDue();
            for (int batches = 1; loop.isOpen() && moreZones && batches < ZONE_BATCHES_PER_ROUND; batches++) {
                replanned = runPart(this::replanZones);
                if (replanned > 0) moved += planDue();
            }
            if (failure instanceof Error error) throw error;
            if (failure instanceof RuntimeException exception) throw exception;
            return moved + pausesChanged;
        }

        /** Replans one batch. The next batch begins after its last row, also if rows of it could not be replanned. */
        private int replanZones() {
            moreZones = false;
            PlanStore.ZoneBatch batch = plans.replanChangedZones(zonePosition);
            zonePosition = batch.mayHaveMore() ? batch.last() : PlanStore.ZonePosition.START;
            // If another node replans the same batches, this node leaves them to it until the next planning.
            moreZones = batch.mayHaveMore() && !batch.allLost();
            return batch.replanned();
        }

        private int updatePauses() {
            List<Schedule> changed = plans.updatePauses(window);
            changed.forEach(PlanningLoop.this::notifyPauseChange);
            return changed.size();
        }

        /** Runs a part of the round. The first failure is thrown at the end of the round. */
        private int runPart(IntSupplier part) {
            try {
                return part.getAsInt();
            } catch (RuntimeException | Error broken) {
                if (failure == null) failure = broken;
                return 0;
            }
        }

        private int planDue() {
            int moved = 0;
            Instant began = Instant.MIN;
            while (loop.isOpen()) {
                PlanStore.DueSchedules due = timed(() -> plans.due(window, BATCH));
                if (began.equals(Instant.MIN)) began = due.now();
                List<TickPlan> wanted = computePlans(due);
                List<TickPlan> written = wanted.isEmpty() ? List.of() : write(wanted);
                moved += written.size();
                // Other nodes wrote all of these plans first; read again in the next round.
                if (!wanted.isEmpty() && written.isEmpty()) return moved;
                if (wanted.isEmpty() || (due.schedules().size() < BATCH && !isBehind(wanted, due.now()))) {
                    Instant before = began.minus(LATE_COMMIT);
                    if (before.isAfter(nothingDueBefore)) nothingDueBefore = before;
                    return moved;
                }
            }
            return moved;
        }

        private <T> T timed(Supplier<T> question) {
            long start = System.nanoTime();
            T answer = question.get();
            readNanos += System.nanoTime() - start;
            return answer;
        }
    }

    private List<TickPlan> computePlans(PlanStore.DueSchedules due) {
        return due.schedules().stream()
                .map(schedule -> planner.plan(
                        schedule, due.late().getOrDefault(schedule, List.of()), due.now(), due.overdueCount()))
                .filter(plan -> !plan.isEmpty())
                .toList();
    }

    private List<TickPlan> write(List<TickPlan> wanted) {
        List<TickPlan> written = plans.write(wanted);
        written.forEach(plan -> PlanEvents.of(plan).forEach(scheduleListener::onScheduleEvent));
        wanted.forEach(this::hintTicks);
        written.forEach(this::notifyPlanned);
        written.forEach(LifecycleLog::planned);
        log.debug(
                "planned schedules={} won={} ticks={}",
                wanted.size(),
                written.size(),
                wanted.stream().mapToInt(plan -> plan.ticks().size()).sum());
        return written;
    }

    private static boolean isBehind(List<TickPlan> plans, Instant now) {
        return plans.stream()
                .anyMatch(plan -> plan.cursor().isBefore(now) && !plan.nextAt().isAfter(now));
    }

    private void notifyPauseChange(Schedule schedule) {
        String project = schedule.definition().project();
        Schedule.Pause pause = schedule.pause();
        scheduleListener.onScheduleEvent(
                pause == null
                        ? new ScheduleEvent.Resumed(project, schedule.name())
                        : new ScheduleEvent.Paused(
                                project, schedule.name(), pause.by(), pause.reason(), pause.until()));
    }

    private void notifyPlanned(TickPlan plan) {
        reports.onPlanned(plan);
        if (!plan.ticks().isEmpty())
            scheduleListener.onScheduleEvent(new ScheduleEvent.Planned(
                    plan.schedule().definition().project(),
                    plan.schedule().name(),
                    plan.ticks().size()));
    }

    private void hintTicks(TickPlan plan) {
        Lane lane = new Lane(
                plan.schedule().definition().template().queue(),
                plan.schedule().definition().project());
        plan.ticks().stream()
                .map(TickPlan.Tick::dueAt)
                .min(Instant::compareTo)
                .ifPresent(at -> reports.onLaneDue(lane, at));
        if (plan.lateDecisions().stream().anyMatch(TickPlan.LateDecision::runsLate))
            reports.onLaneDue(lane, Instant.EPOCH);
    }
}
