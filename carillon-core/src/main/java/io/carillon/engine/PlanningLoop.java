package io.carillon.engine;

import io.carillon.run.Lane;
import io.carillon.run.RunListener;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.ScheduleEvent;
import io.carillon.schedule.ScheduleListener;
import io.carillon.schedule.TickPlan;
import io.carillon.schedule.TickPlanner;
import io.carillon.store.PlanStore;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes ticks ahead of time. Every node plans; the one whose write finds the schedule unchanged wins, and the others write nothing. Where one node shall
 * plan for all, that rule still holds: a leader that has lost its right and does not know it writes nothing either.
 */
final class PlanningLoop extends Loop {
    private static final Logger log = LoggerFactory.getLogger(PlanningLoop.class);
    private static final int BATCH = 500;

    /** A leader that died is replaced within both together: less than five seconds. */
    private static final Duration LEASE = Duration.ofSeconds(3);

    private static final Duration BID = Duration.ofSeconds(1);

    private static final Duration STANDS_BACK = Duration.ofSeconds(2);

    /** What was committed later than this after its own clock is found by a round from the very beginning. */
    private static final Duration LATE_COMMIT = Duration.ofSeconds(10);

    private final PlanStore plans;
    private final TickPlanner planner;
    private final BiConsumer<Lane, Instant> hint;
    private final Supplier<Duration> every;
    private final ScheduleListener told;
    private @Nullable Supplier<UUID> candidate;
    private volatile boolean leading;
    private volatile Consumer<TickPlan> onPlanned = plan -> {};
    private boolean first = true;
    private long standsBackUntil = System.nanoTime();
    /** From the very beginning: finds what changed behind the back of the rounds. */
    private final Rarely sweeps = new Rarely(Duration.ofSeconds(1));
    /** Before this instant the rounds of this node left nothing. */
    private Instant settled = Instant.MIN;

    PlanningLoop(
            PlanStore plans,
            TickPlanner planner,
            BiConsumer<Lane, Instant> hint,
            Supplier<Duration> every,
            ScheduleListener told) {
        super("plan", true);
        this.plans = plans;
        this.planner = planner;
        this.hint = hint;
        this.every = every;
        this.told = told;
    }

    /** From now on it plans only while this node holds the token. To be said before the start. */
    void onlyAsLeader(Supplier<UUID> node) {
        candidate = node;
    }

    /** Told of each plan that was written. */
    void onPlanned(Consumer<TickPlan> action) {
        onPlanned = action;
    }

    /** Schedules changed: a round at once, and from the very beginning. */
    void planNow() {
        sweeps.hurry();
        wake();
    }

    /** Whether this node holds the token. */
    boolean leading() {
        return leading;
    }

    @Override
    void turn() throws InterruptedException {
        Supplier<UUID> node = candidate;
        if (node != null) {
            bid(node.get());
            return;
        }
        if (!first) {
            plan();
            sleep(every.get().toNanos());
            return;
        }
        first = false;
        plan();
        // Nodes that start together shall not plan together for ever.
        sleep(ThreadLocalRandom.current().nextLong(every.get().toNanos()));
    }

    /** A leader whose round failed leaves planning to others for a while: it may be the only one that fails. */
    @Override
    void onFailure(Throwable failure) {
        Supplier<UUID> node = candidate;
        if (node == null || !leading) return;
        leading = false;
        standsBackUntil = System.nanoTime() + STANDS_BACK.toNanos();
        log.warn("planning failed, leaving it to others node={}", node.get());
        plans.stepDown(node.get());
    }

    private void bid(UUID node) throws InterruptedException {
        if (System.nanoTime() - standsBackUntil < 0) {
            sleep(BID.toNanos());
            return;
        }
        boolean held = plans.lead(node, LEASE);
        if (held != leading) log.info(held ? "planning taken over node={}" : "planning lost node={}", node);
        leading = held;
        if (held) plan();
        sleep(BID.toNanos());
    }

    @Override
    void onEnd() {
        Supplier<UUID> node = candidate;
        if (node != null) plans.stepDown(node.get());
    }

    /** Plans in batches until nothing is due soon; returns how many schedules moved. */
    int plan() {
        boolean fromTheStart = sweeps.due();
        Instant since = fromTheStart ? Instant.MIN : settled;
        Round round = new Round(new PlanStore.Reach(since, planner.renewAhead(), planner.lookAhead()));
        int moved = round.anything() ? round.plan() : 0;
        if (fromTheStart) sweeps.took(round.reading);
        return moved;
    }

    private final class Round {
        private final PlanStore.Reach reach;
        private long reading;
        private @Nullable Throwable failure;

        Round(PlanStore.Reach reach) {
            this.reach = reach;
        }

        boolean anything() {
            return timed(() -> plans.anything(reach));
        }

        /** Pauses begin and end first, few at a time, then comes planning; what fails in one part of a round stops no other. */
        int plan() {
            int turned = guarded(this::turnPauses);
            int moved = guarded(this::planDue);
            int changed = guarded(plans::followBacklogs);
            int zones = guarded(plans::followZones);
            if (changed + zones > 0) moved += planDue();
            while (open() && zones == PlanStore.ZONES) {
                zones = guarded(plans::followZones);
                if (zones > 0) moved += planDue();
            }
            if (failure instanceof Error error) throw error;
            if (failure instanceof RuntimeException exception) throw exception;
            return moved + turned;
        }

        private int turnPauses() {
            List<Schedule> turned = plans.turnPauses(reach);
            turned.forEach(PlanningLoop.this::tellOfPause);
            return turned.size();
        }

        /** The round goes on; its first failure is thrown at its end. */
        private int guarded(IntSupplier part) {
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
            while (open()) {
                PlanStore.DueSchedules due = timed(() -> plans.due(reach, BATCH));
                if (began.equals(Instant.MIN)) began = due.now();
                List<TickPlan> wanted = wanted(due);
                List<TickPlan> written = wanted.isEmpty() ? List.of() : write(wanted);
                moved += written.size();
                // Whoever was faster has moved them all: look again at the next round.
                if (!wanted.isEmpty() && written.isEmpty()) return moved;
                if (wanted.isEmpty() || (due.schedules().size() < BATCH && !behind(wanted, due.now()))) {
                    Instant before = began.minus(LATE_COMMIT);
                    if (before.isAfter(settled)) settled = before;
                    return moved;
                }
            }
            return moved;
        }

        private <T> T timed(Supplier<T> question) {
            long start = System.nanoTime();
            T answer = question.get();
            reading += System.nanoTime() - start;
            return answer;
        }
    }

    private List<TickPlan> wanted(PlanStore.DueSchedules due) {
        return due.schedules().stream()
                .map(schedule ->
                        planner.plan(schedule, due.late().getOrDefault(schedule, List.of()), due.now(), due.behind()))
                .filter(plan -> !plan.empty())
                .toList();
    }

    private List<TickPlan> write(List<TickPlan> wanted) {
        List<TickPlan> written = plans.write(wanted);
        written.forEach(plan -> ScheduleEvent.of(plan).forEach(told::heard));
        wanted.forEach(this::announce);
        written.forEach(onPlanned);
        written.forEach(Journal::planned);
        log.debug(
                "planned schedules={} won={} ticks={}",
                wanted.size(),
                written.size(),
                wanted.stream().mapToInt(plan -> plan.ticks().size()).sum());
        return written;
    }

    private static boolean behind(List<TickPlan> plans, Instant now) {
        return plans.stream()
                .anyMatch(plan -> plan.cursor().isBefore(now) && !plan.nextAt().isAfter(now));
    }

    private void tellOfPause(Schedule schedule) {
        String project = schedule.definition().project();
        Schedule.Pause pause = schedule.pause();
        told.heard(
                pause == null
                        ? new ScheduleEvent.Resumed(project, schedule.name())
                        : new ScheduleEvent.Paused(
                                project, schedule.name(), pause.by(), pause.reason(), pause.until()));
    }

    /** Tells a listener of the ticks of a written plan. */
    static void tell(RunListener listener, TickPlan plan) {
        listener.planned(
                plan.read().definition().project(),
                plan.read().name(),
                plan.ticks().size());
    }

    private void announce(TickPlan plan) {
        Lane lane = new Lane(
                plan.read().definition().what().queue(),
                plan.read().definition().project());
        plan.ticks().stream().map(TickPlan.Tick::dueAt).min(Instant::compareTo).ifPresent(at -> hint.accept(lane, at));
        if (plan.late().stream().anyMatch(TickPlan.Verdict::runsLate)) hint.accept(lane, Instant.EPOCH);
    }
}
