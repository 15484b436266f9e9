package io.carillon.internal.postgres.schedule;

import io.carillon.internal.jdbc.Query;
import io.carillon.internal.schedule.TickPlan;
import io.carillon.schedule.SchedulePolicies;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Plans as parameters of a statement, in the order of the schedule ids: one lock order for all writers. */
final class PlanRows {
    private final List<TickPlan> plans;

    private PlanRows(List<TickPlan> plans) {
        this.plans = plans;
    }

    static PlanRows of(List<TickPlan> plans) {
        return new PlanRows(plans.stream()
                .sorted(Comparator.comparing(plan -> plan.schedule().id().value()))
                .toList());
    }

    boolean isEmpty() {
        return plans.isEmpty();
    }

    /** Binds schedules, ticks and gaps. */
    Query bind(Query query) throws SQLException {
        bindFence(query);
        bindSlices(query, "late", TickPlan::lateDecisions);
        return bindPlanned(query);
    }

    /** Returns the plans in the order in which their columns are bound. */
    List<TickPlan> inOrder() {
        return plans;
    }

    /** Binds the new cursors, ticks and gaps. */
    Query bindPlanned(Query query) throws SQLException {
        query.column("cursors", "timestamptz", plans, TickPlan::cursor)
                .column("nextInstants", "timestamptz", plans, TickPlan::nextAt);
        List<StartWindow<TickPlan.Tick>> ticks = bindSlices(query, "tick", PlanRows::ticks);
        List<TickPlan.LedgerGap> gaps = bindSlices(query, "gap", TickPlan::gaps);
        return query.column("gapFroms", "timestamptz", gaps, TickPlan.LedgerGap::from)
                .column("gapTos", "timestamptz", gaps, TickPlan.LedgerGap::to)
                .column("gapCounts", "int8", gaps, TickPlan.LedgerGap::count)
                .column("gapStates", "text", gaps, TickPlan.LedgerGap::state)
                .column("gapReasons", "text", gaps, TickPlan.LedgerGap::reason)
                .column("tickIds", "uuid", ticks, tick -> tick.item.id())
                .column("tickPlanned", "timestamptz", ticks, tick -> tick.item.plannedAt())
                .column("tickDue", "timestamptz", ticks, tick -> tick.item.dueAt())
                .column("tickStartBy", "timestamptz", ticks, StartWindow::startBy)
                .column("tickMayStartLate", "bool", ticks, StartWindow::mayStartLate);
    }

    /** Binds the parameters of the statement that locks schedules and late ticks. */
    Query bindLate(Query query) throws SQLException {
        List<TickPlan.LateDecision> late = bindSlices(bindFence(query), "late", TickPlan::lateDecisions);
        return query.column("lateIds", "uuid", late, TickPlan.LateDecision::run);
    }

    /** Binds the decisions about late ticks whose row locations are known. */
    Query bindVerdicts(Query query, Map<UUID, String> places) throws SQLException {
        List<StartWindow<TickPlan.LateDecision>> late =
                plans.stream().flatMap(plan -> verdicts(plan).stream()).toList();
        return query.column("lateIds", "uuid", late, verdict -> verdict.item.run())
                .column("lateCtids", "tid", late, verdict -> places.get(verdict.item.run()))
                .column("lateReasons", "text", late, verdict -> verdict.item.reason())
                .column("lateDue", "timestamptz", late, verdict -> verdict.item.dueAt())
                .column("lateStartBy", "timestamptz", late, StartWindow::startBy)
                .column("lateMayStart", "bool", late, StartWindow::mayStartLate);
    }

    /**
     * An item with the end of the time in which it may start. {@code mayStartLate} is true if the missed policy lets it
     * start late, and null if the policy did not have to decide.
     */
    private record StartWindow<T>(
            T item, Instant startBy, @Nullable Boolean mayStartLate) {
        static <T> StartWindow<T> of(TickPlan plan, T item, Instant planned, Instant due, Instant startBy) {
            if (!startBy.equals(Instant.MAX)) return new StartWindow<>(item, startBy, null);
            SchedulePolicies schedulePolicies = plan.schedule().definition().policies();
            Instant window = planned.plus(schedulePolicies.catchUp());
            Instant grace = due.plus(schedulePolicies.grace());
            return new StartWindow<>(item, window.isAfter(grace) ? window : grace, true);
        }
    }

    private static List<StartWindow<TickPlan.Tick>> ticks(TickPlan plan) {
        return plan.ticks().stream()
                .map(tick -> StartWindow.of(plan, tick, tick.plannedAt(), tick.dueAt(), tick.startBy()))
                .toList();
    }

    private static List<StartWindow<TickPlan.LateDecision>> verdicts(TickPlan plan) {
        return plan.lateDecisions().stream()
                .map(lateDecision -> StartWindow.of(
                        plan, lateDecision, lateDecision.plannedAt(), lateDecision.dueAt(), lateDecision.startBy()))
                .toList();
    }

    /** Runs the query and returns the plans whose schedules it moved. */
    List<TickPlan> writtenPlans(Query query) throws SQLException {
        Set<UUID> moved = new HashSet<>(query.list(row -> row.uuid("id")));
        return plans.stream()
                .filter(plan -> moved.contains(plan.schedule().id().value()))
                .toList();
    }

    private Query bindFence(Query query) throws SQLException {
        return query.column(
                        "projects",
                        "text",
                        plans,
                        plan -> plan.schedule().definition().project())
                .column("ids", "uuid", plans, plan -> plan.schedule().id().value())
                .column("versions", "int8", plans, plan -> plan.schedule().version())
                .column(
                        "oldCursors",
                        "timestamptz",
                        plans,
                        plan -> plan.schedule().planningState().cursor());
    }

    /** Returns the items of all plans in one list, and binds two columns that say which slice belongs to which plan. */
    private <T> List<T> bindSlices(Query query, String name, Function<TickPlan, List<T>> items) throws SQLException {
        List<T> all = new ArrayList<>();
        List<Integer> firsts = new ArrayList<>();
        List<Integer> lasts = new ArrayList<>();
        for (TickPlan plan : plans) {
            firsts.add(all.size() + 1);
            all.addAll(items.apply(plan));
            lasts.add(all.size());
        }
        query.column(name + "Firsts", "int4", firsts, first -> first)
                .column(name + "Lasts", "int4", lasts, last -> last);
        return all;
    }
}
