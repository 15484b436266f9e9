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

    private final PlanStore plans;
    private final TickPlanner planner;
    private final BiConsumer<Lane, Instant> hint;
    private final Supplier<Duration> every;
    private final ScheduleListener told;
    private @Nullable Supplier<UUID> candidate;
    private volatile boolean leading;
    private volatile Consumer<TickPlan> onPlanned = plan -> {};
    private boolean first = true;

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

    private void bid(UUID node) throws InterruptedException {
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
        if (!plans.anything(planner.lookAhead())) return 0;
        plans.followZones();
        plans.followBacklogs();
        List<Schedule> turned = plans.turnPauses(planner.lookAhead());
        turned.forEach(this::tellOfPause);
        int moved = turned.size();
        while (open()) {
            PlanStore.DueSchedules due = plans.due(planner.lookAhead(), BATCH);
            List<TickPlan> written = due.schedules().stream()
                    .map(schedule -> planner.plan(schedule, due.late().getOrDefault(schedule, List.of()), due.now()))
                    .filter(plan -> !plan.empty())
                    .toList();
            if (written.isEmpty()) return moved;
            List<TickPlan> winners = plans.write(written);
            int won = winners.size();
            moved += won;
            winners.forEach(plan -> ScheduleEvent.of(plan).forEach(told::heard));
            written.forEach(this::announce);
            winners.forEach(onPlanned);
            winners.forEach(Journal::planned);
            log.debug(
                    "planned schedules={} won={} ticks={}",
                    written.size(),
                    won,
                    written.stream().mapToInt(plan -> plan.ticks().size()).sum());
            // Whoever was faster has moved them all: look again at the next round.
            boolean behind = written.stream()
                    .anyMatch(plan ->
                            plan.cursor().isBefore(due.now()) && !plan.nextAt().isAfter(due.now()));
            if (won == 0 || (due.schedules().size() < BATCH && !behind)) return moved;
        }
        return moved;
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
