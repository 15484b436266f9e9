package io.carillon.it.store;

import io.carillon.run.Attempt;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.TickPlan;
import io.carillon.schedule.TickPlanner;
import io.carillon.store.LedgerEntry;
import io.carillon.store.PlanStore;
import io.carillon.store.ScheduleChange;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

/** Helpers of the contracts about schedules and their ticks. */
abstract class PlanningContract extends StoreContract {
    static final TickPlanner PLANNER = TickPlanner.defaults();
    static final PlanStore.PlanningWindow REACH =
            PlanStore.PlanningWindow.all(PLANNER.lookAhead(), PLANNER.lookAhead());
    /** The planning window of a node. */
    static final PlanStore.PlanningWindow NODE_REACH =
            PlanStore.PlanningWindow.all(PLANNER.replanThreshold(), PLANNER.lookAhead());

    static final Instant END = StoreFixture.NOON.plus(Duration.ofDays(400));

    Schedule store(ScheduleSpec spec) {
        return storage().schedules().upsert(spec.definition()).schedule();
    }

    ScheduleChange upsert(ScheduleSpec spec) {
        return storage().schedules().upsert(spec.definition());
    }

    Schedule schedule(String name) {
        return storage().schedules().get(PROJECT, name).orElseThrow();
    }

    PlanStore.DueSchedules due() {
        return storage().plans().due(REACH, 500);
    }

    static List<TickPlan> plans(PlanStore.DueSchedules due) {
        return due.schedules().stream()
                .map(schedule -> PLANNER.plan(schedule, due.late().getOrDefault(schedule, List.of()), due.now()))
                .filter(plan -> !plan.isEmpty())
                .toList();
    }

    /** Runs one planning round as a node does and returns the number of plans written. */
    int plan() {
        return storage().plans().write(plans(due())).size();
    }

    /** Plans until no plan is written. */
    void planAll() {
        while (plan() > 0) {
            // The next round plans the rest.
        }
    }

    List<LedgerEntry> ledger(String name) {
        return storage().schedules().ledger(PROJECT, name, StoreFixture.NOON.minus(Duration.ofDays(2)), END);
    }

    /**
     * Returns the ledger as short lines such as {@code 12:00:10 waiting} or {@code 12:00:10-12:00:50 5 skipped paused}.
     */
    List<String> lines(String name) {
        return ledger(name).stream().map(PlanningContract::line).toList();
    }

    private static String line(LedgerEntry entry) {
        String from = entry.from().toString().substring(11, 19);
        String why = entry.reason() == null ? "" : " " + entry.reason();
        if (entry.run() != null) return from + " " + entry.state() + why;
        return "%s-%s %d %s%s"
                .formatted(from, entry.to().toString().substring(11, 19), entry.count(), entry.state(), why);
    }

    /** Claims all due ticks, completes them, and returns their planned instants. */
    List<Instant> runDue(UUID node) {
        List<Attempt> claimed = claim(node, 1_000);
        storage()
                .runs()
                .apply(
                        node,
                        claimed.stream()
                                .map(attempt -> ended(attempt, complete()))
                                .toList());
        return claimed.stream().map(attempt -> attempt.times().plannedAt()).toList();
    }

    static Instant at(int seconds) {
        return StoreFixture.NOON.plusSeconds(seconds);
    }
}
