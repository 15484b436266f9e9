package io.carillon.schedule;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Something that happened to a schedule, or to instants of it that will not run. It is told when it is in the database. */
public sealed interface ScheduleEvent {
    String project();

    /** The name of the schedule. */
    String schedule();

    record Created(String project, String schedule) implements ScheduleEvent {}

    record Changed(String project, String schedule, long version) implements ScheduleEvent {}

    /** By hand or by itself; {@code until} null: until somebody resumes it. */
    record Paused(
            String project,
            String schedule,
            String by,
            @Nullable String reason,
            @Nullable Instant until) implements ScheduleEvent {}

    record Resumed(String project, String schedule) implements ScheduleEvent {}

    record Deleted(String project, String schedule) implements ScheduleEvent {}

    /** Nobody could start them in time, and the missed policy lets them be. */
    record Missed(String project, String schedule, io.carillon.schedule.Missed policy, Instants instants)
            implements ScheduleEvent {}

    /** They do not run on purpose: an overlap or an excluded date. Those of a pause are not told one by one. */
    record Skipped(String project, String schedule, Instants instants) implements ScheduleEvent {}

    /** One instant or several with the same fate, both ends inclusive. */
    record Instants(Instant from, Instant to, long count, String reason) {
        public static Instants one(Instant at, String reason) {
            return new Instants(at, at, 1, reason);
        }

        private Instants and(Instants more) {
            return new Instants(
                    from.isBefore(more.from) ? from : more.from,
                    to.isAfter(more.to) ? to : more.to,
                    count + more.count,
                    reason);
        }
    }

    /** What a plan that was written has to tell: one event for each reason. */
    static List<ScheduleEvent> of(TickPlan plan) {
        Map<String, Instants> missed = new LinkedHashMap<>();
        Map<String, Instants> skipped = new LinkedHashMap<>();
        for (TickPlan.Verdict late : plan.late()) {
            String reason = late.reason();
            if (reason != null) missed.merge(reason, Instants.one(late.plannedAt(), reason), Instants::and);
        }
        for (TickPlan.Gap gap : plan.gaps())
            (gap.excluded() ? skipped : missed)
                    .merge(gap.reason(), new Instants(gap.from(), gap.to(), gap.count(), gap.reason()), Instants::and);
        String project = plan.read().definition().project();
        io.carillon.schedule.Missed policy = plan.read().definition().policies().missed();
        List<ScheduleEvent> events = new ArrayList<>();
        missed.values()
                .forEach(instants -> events.add(new Missed(project, plan.read().name(), policy, instants)));
        skipped.values()
                .forEach(instants -> events.add(new Skipped(project, plan.read().name(), instants)));
        return events;
    }
}
