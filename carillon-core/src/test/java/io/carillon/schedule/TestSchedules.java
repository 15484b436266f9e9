package io.carillon.schedule;

import io.carillon.internal.schedule.TickPlan;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;

/** Creates schedules for tests of the planner. */
public final class TestSchedules {
    static final Duration AHEAD = Duration.ofMinutes(2);

    private TestSchedules() {}

    static ScheduleDefinition definition(When when, SchedulePolicies schedulePolicies) {
        return new ScheduleDefinition("default", "report", when, runTemplate(), schedulePolicies);
    }

    static ScheduleDefinition.RunTemplate runTemplate() {
        return new ScheduleDefinition.RunTemplate(
                "default", 1, "handler", "report", "{}".getBytes(StandardCharsets.UTF_8), "json");
    }

    public static Schedule schedule(When when, SchedulePolicies schedulePolicies, Instant cursor) {
        return schedule(ScheduleId.generate(), when, schedulePolicies, cursor);
    }

    public static Schedule schedule(ScheduleId id, When when, SchedulePolicies schedulePolicies, Instant cursor) {
        return new Schedule(
                id,
                1,
                definition(when, schedulePolicies),
                new Schedule.PlanningState(cursor, when.next(cursor).orElse(Instant.MAX), 0),
                null);
    }

    /** Returns the schedule after a plan was written. */
    public static Schedule afterPlan(TickPlan plan) {
        Schedule before = plan.schedule();
        long ticks = before.planningState().ticks() + plan.ticks().size();
        return new Schedule(
                before.id(),
                before.version(),
                before.definition(),
                new Schedule.PlanningState(plan.cursor(), plan.nextAt(), ticks),
                null);
    }

    public static TickPlan.LateTick late(String planned) {
        return new TickPlan.LateTick(UUID.randomUUID(), Instant.parse(planned), false);
    }
}
