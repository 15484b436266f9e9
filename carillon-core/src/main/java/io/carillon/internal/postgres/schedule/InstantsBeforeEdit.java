package io.carillon.internal.postgres.schedule;

import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.postgres.partition.Partitions;
import io.carillon.internal.postgres.schedule.UnstartedTicks.LedgerReason;
import io.carillon.internal.postgres.schedule.UnstartedTicks.UnplannedRange;
import io.carillon.internal.postgres.stats.EndedRows;
import io.carillon.internal.schedule.TickPlan;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.schedule.Schedule;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** The instants that fell due before an edit. They keep the definition under which they fell due, late or not. */
final class InstantsBeforeEdit {
    /** Plans nothing ahead: an edit must not plan the future with the old definition. */
    private final TickPlanner planner = new TickPlanner(Duration.ZERO, 64);

    private final UnstartedTicks unstartedTicks;
    private final EndedRows endedRows;
    private final Database database;
    private final Partitions partitions;

    InstantsBeforeEdit(Database database, Partitions partitions, EndedRows endedRows) {
        this.database = database;
        this.partitions = partitions;
        this.endedRows = endedRows;
        this.unstartedTicks = new UnstartedTicks(endedRows);
    }

    /** Plans the instants that fell due under the old definition with that definition, late or not. */
    Schedule plan(Session session, Schedule before, Instant cutoff) throws SQLException {
        Schedule schedule = before;
        while (!schedule.planningState().nextAt().isAfter(cutoff)) {
            PlanRepository.write(session, List.of(planner.plan(schedule, List.of(), cutoff)), endedRows);
            schedule = ScheduleRepository.lock(session, before.definition().project(), before.name())
                    .orElseThrow();
        }
        unstartedTicks.recordGaps(
                session, schedule, UnplannedRange.orEmpty(Optional.empty(), schedule), cutoff, LedgerReason.EXCLUDED);
        return schedule;
    }

    /** Like {@link #plan}, but before locking: after a long outage there may be many instants. */
    void planUnlocked(Schedule seen) {
        if (seen.isPaused() || seen.unreadable() != null) return;
        Schedule schedule = seen;
        Instant now = database.single(ScheduleRepository::now);
        while (!schedule.planningState().nextAt().isAfter(now)) {
            TickPlan plan = planner.plan(schedule, List.of(), now);
            List<TickPlan> moved = partitions.creatingMissing(
                    () -> database.single(session -> PlanRepository.write(session, List.of(plan), endedRows)));
            Optional<Schedule> again = database.single(session ->
                    ScheduleRepository.find(session, seen.definition().project(), seen.name()));
            if (moved.isEmpty() || again.isEmpty()) return;
            schedule = again.get();
        }
    }
}
