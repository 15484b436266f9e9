package io.carillon.schedule;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;

/** Schedules for tests of the planner. */
final class Plans {
    static final Duration AHEAD = Duration.ofMinutes(2);

    private Plans() {}

    static Definition definition(When when, Policies policies) {
        return new Definition("default", "report", when, what(), policies);
    }

    static Definition.What what() {
        return new Definition.What("default", 1, "handler", "report", "{}".getBytes(StandardCharsets.UTF_8), "json");
    }

    static Schedule schedule(When when, Policies policies, Instant cursor) {
        return schedule(ScheduleId.next(), when, policies, cursor);
    }

    static Schedule schedule(ScheduleId id, When when, Policies policies, Instant cursor) {
        return new Schedule(
                id,
                1,
                definition(when, policies),
                new Schedule.Progress(cursor, when.next(cursor).orElse(Instant.MAX), 0),
                null);
    }

    /** The schedule as it stands after a plan was written. */
    static Schedule after(TickPlan plan) {
        Schedule before = plan.read();
        long ticks = before.progress().ticks() + plan.ticks().size();
        return new Schedule(
                before.id(),
                before.version(),
                before.definition(),
                new Schedule.Progress(plan.cursor(), plan.nextAt(), ticks),
                null);
    }

    static TickPlan.LateTick late(String planned) {
        return new TickPlan.LateTick(UUID.randomUUID(), Instant.parse(planned), false);
    }
}
