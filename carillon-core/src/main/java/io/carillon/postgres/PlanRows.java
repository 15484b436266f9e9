package io.carillon.postgres;

import io.carillon.schedule.Policies;
import io.carillon.schedule.TickPlan;
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

/** Plans on their way into a statement, in the order of their schedules' ids: one lock order for all writers. */
final class PlanRows {
    private final List<TickPlan> plans;

    private PlanRows(List<TickPlan> plans) {
        this.plans = plans;
    }

    static PlanRows of(List<TickPlan> plans) {
        return new PlanRows(plans.stream()
                .sorted(Comparator.comparing(plan -> plan.read().id().value()))
                .toList());
    }

    boolean isEmpty() {
        return plans.isEmpty();
    }

    /** Binds schedules, ticks and gaps. */
    Query bind(Query query) throws SQLException {
        fence(query)
                .column("cursors", "timestamptz", plans, TickPlan::cursor)
                .column("nexts", "timestamptz", plans, TickPlan::nextAt);
        List<Bound<TickPlan.Tick>> ticks = sliced(query, "tick", PlanRows::ticks);
        List<TickPlan.Gap> gaps = sliced(query, "gap", TickPlan::gaps);
        sliced(query, "late", TickPlan::late);
        return query.column("gapFroms", "timestamptz", gaps, TickPlan.Gap::from)
                .column("gapTos", "timestamptz", gaps, TickPlan.Gap::to)
                .column("gapCounts", "int8", gaps, TickPlan.Gap::count)
                .column("gapStates", "text", gaps, TickPlan.Gap::state)
                .column("gapReasons", "text", gaps, TickPlan.Gap::reason)
                .column("tickIds", "uuid", ticks, tick -> tick.item.id())
                .column("tickPlanned", "timestamptz", ticks, tick -> tick.item.plannedAt())
                .column("tickDue", "timestamptz", ticks, tick -> tick.item.dueAt())
                .column("tickStartBy", "timestamptz", ticks, Bound::startBy)
                .column("tickLate", "bool", ticks, Bound::runsLate);
    }

    /** Binds what the lock of schedules and late ticks needs. */
    Query bindLate(Query query) throws SQLException {
        List<TickPlan.Verdict> late = sliced(fence(query), "late", TickPlan::late);
        return query.column("lateIds", "uuid", late, TickPlan.Verdict::run);
    }

    /** Binds what becomes of late ticks whose places are known. */
    Query bindVerdicts(Query query, Map<UUID, String> places) throws SQLException {
        List<Bound<TickPlan.Verdict>> late =
                plans.stream().flatMap(plan -> verdicts(plan).stream()).toList();
        return query.column("lateIds", "uuid", late, verdict -> verdict.item.run())
                .column("latePlaces", "tid", late, verdict -> places.get(verdict.item.run()))
                .column("lateReasons", "text", late, verdict -> verdict.item.reason())
                .column("lateDue", "timestamptz", late, verdict -> verdict.item.dueAt())
                .column("lateStartBy", "timestamptz", late, Bound::startBy)
                .column("lateLet", "bool", late, Bound::runsLate);
    }

    /** An item with the end of the time in which it may start; {@code runsLate}: true where the missed policy lets it, null where it need not be asked. */
    private record Bound<T>(
            T item, Instant startBy, @Nullable Boolean runsLate) {
        static <T> Bound<T> of(TickPlan plan, T item, Instant planned, Instant due, Instant startBy) {
            if (!startBy.equals(Instant.MAX)) return new Bound<>(item, startBy, null);
            Policies policies = plan.read().definition().policies();
            Instant window = planned.plus(policies.catchUp());
            Instant grace = due.plus(policies.grace());
            return new Bound<>(item, window.isAfter(grace) ? window : grace, true);
        }
    }

    private static List<Bound<TickPlan.Tick>> ticks(TickPlan plan) {
        return plan.ticks().stream()
                .map(tick -> Bound.of(plan, tick, tick.plannedAt(), tick.dueAt(), tick.startBy()))
                .toList();
    }

    private static List<Bound<TickPlan.Verdict>> verdicts(TickPlan plan) {
        return plan.late().stream()
                .map(verdict -> Bound.of(plan, verdict, verdict.plannedAt(), verdict.dueAt(), verdict.startBy()))
                .toList();
    }

    /** The plans whose schedules the statement moved. */
    List<TickPlan> moved(Query query) throws SQLException {
        Set<UUID> moved = new HashSet<>(query.list(row -> row.uuid("id")));
        return plans.stream()
                .filter(plan -> moved.contains(plan.read().id().value()))
                .toList();
    }

    private Query fence(Query query) throws SQLException {
        return query.column(
                        "projects",
                        "text",
                        plans,
                        plan -> plan.read().definition().project())
                .column("ids", "uuid", plans, plan -> plan.read().id().value())
                .column("versions", "int8", plans, plan -> plan.read().version())
                .column(
                        "olds",
                        "timestamptz",
                        plans,
                        plan -> plan.read().progress().cursor());
    }

    /** All items one after the other; which slice belongs to which plan is bound as two columns. */
    private <T> List<T> sliced(Query query, String name, Function<TickPlan, List<T>> items) throws SQLException {
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
