package io.carillon.internal.schedule;

import io.carillon.schedule.MissedPolicy;
import io.carillon.spi.ScheduleEvent;
import io.carillon.spi.ScheduleEvent.AffectedInstants;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The events that listeners get for a stored plan: one for each reason why instants do not run. */
public final class PlanEvents {
    private PlanEvents() {}

    /** Returns the events for a stored plan. */
    public static List<ScheduleEvent> of(TickPlan plan) {
        Map<String, AffectedInstants> missed = new LinkedHashMap<>();
        Map<String, AffectedInstants> skipped = new LinkedHashMap<>();
        for (TickPlan.LateDecision late : plan.lateDecisions()) {
            String reason = late.reason();
            if (reason != null)
                missed.merge(reason, AffectedInstants.single(late.plannedAt(), reason), AffectedInstants::merge);
        }
        for (TickPlan.LedgerGap gap : plan.gaps())
            (gap.isExcluded() ? skipped : missed)
                    .merge(
                            gap.reason(),
                            new AffectedInstants(gap.from(), gap.to(), gap.count(), gap.reason()),
                            AffectedInstants::merge);
        String project = plan.schedule().definition().project();
        String name = plan.schedule().name();
        MissedPolicy policy = plan.schedule().definition().policies().missed();
        List<ScheduleEvent> events = new ArrayList<>();
        missed.values().forEach(instants -> events.add(new ScheduleEvent.Missed(project, name, policy, instants)));
        skipped.values().forEach(instants -> events.add(new ScheduleEvent.Skipped(project, name, instants)));
        return events;
    }
}
