package io.carillon.internal.schedule;

import io.carillon.internal.value.Uuid7;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.When;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Decides which ticks a schedule needs now. Has no side effects: equal arguments yield the same instants. The planner
 * uses only its arguments; the statement that writes the plan checks that the schedule has not changed meanwhile.
 */
public final class TickPlanner {
    private static final int SPREAD_FROM_LATE_SCHEDULES = 100;
    private static final Duration SPREAD_PER_LATE_SCHEDULE = Duration.ofMillis(10);
    private static final Duration MAX_SPREAD = Duration.ofMinutes(1);

    private final Duration lookAhead;
    private final int maxTicks;

    /**
     * Creates a planner.
     *
     * @param lookAhead how far ahead ticks are created
     * @param maxTicks the maximum number of ticks per schedule and plan
     */
    public TickPlanner(Duration lookAhead, int maxTicks) {
        this.lookAhead = lookAhead;
        this.maxTicks = maxTicks;
    }

    /** Returns the default planner: 2 minutes ahead, 64 ticks per schedule. */
    public static TickPlanner defaults() {
        return withLookAhead(Duration.ofMinutes(2));
    }

    /** Returns a planner with this look-ahead and 64 ticks per schedule. */
    public static TickPlanner withLookAhead(Duration lookAhead) {
        return new TickPlanner(lookAhead, 64);
    }

    /** Returns how far ahead ticks are created. */
    public Duration lookAhead() {
        return lookAhead;
    }

    /**
     * Returns the time ahead within which a schedule must have ticks. A schedule is planned again when it has none
     * beyond this time, so that one write creates several ticks if its instants are close together.
     */
    public Duration replanThreshold() {
        return lookAhead.dividedBy(2);
    }

    /** Like {@link #plan(Schedule, List, Instant, long)}, for the case that few schedules are late. */
    public TickPlan plan(Schedule schedule, List<TickPlan.LateTick> lateTicks, Instant now) {
        return plan(schedule, lateTicks, now, 0);
    }

    /**
     * Returns the plan for a schedule.
     *
     * @param lateTicks the ticks of the schedule that no node started in time
     * @param lateSchedules how many schedules are late. From 100 on, their late runs are spread by 10 ms per schedule,
     *     at most 1 minute in total. The offset of a schedule is the same on every node.
     */
    public TickPlan plan(Schedule schedule, List<TickPlan.LateTick> lateTicks, Instant now, long lateSchedules) {
        When when = schedule.definition().when();
        MissedDecider resolution =
                new MissedDecider(schedule, lateTicks, now, stableOffset(schedule, spread(lateSchedules)));
        List<TickPlan.Tick> ticks = new ArrayList<>(resolution.newTicks());
        List<TickPlan.LedgerGap> gaps = new ArrayList<>(resolution.gaps());
        Instant cursor = resolution.cursor();
        long maxCount = resolution.newTicks().size()
                + Math.min(
                        maxTicksAtOnce(when, cursor, now),
                        schedule.runsLeft() - resolution.newTicks().size());
        Instant horizon = now.plus(lookAhead);
        Optional<Instant> next = when.next(cursor);
        while (next.isPresent() && !next.get().isAfter(horizon) && ticks.size() < maxCount) {
            Instant at = next.get();
            gaps.addAll(excludedGaps(when, cursor, at));
            cursor = at;
            next = when.next(cursor);
            ticks.add(tick(schedule, cursor, next.orElse(Instant.MAX), now));
        }
        boolean exhausted = ticks.size() >= schedule.runsLeft();
        return new TickPlan(
                schedule,
                cursor,
                exhausted ? Instant.MAX : next.orElse(Instant.MAX),
                ticks,
                gaps,
                resolution.lateDecisions());
    }

    /**
     * Returns the maximum number of ticks for this plan. The next instant of an adaptive interval is known only after
     * the previous one has passed, so only one tick is created at a time.
     */
    private int maxTicksAtOnce(When when, Instant cursor, Instant now) {
        if (when.adaptive() == null) return maxTicks;
        return cursor.isAfter(now) ? 0 : 1;
    }

    /**
     * Returns gaps for the instants between the cursor and the next planned instant. All of them are on excluded dates.
     */
    private static List<TickPlan.LedgerGap> excludedGaps(When when, Instant cursor, Instant next) {
        if (when.bounds().excluded().isEmpty()) return List.of();
        return InstantRange.gapsBetween(when, cursor, next.minusNanos(1), "skipped", TickPlan.LedgerGap.EXCLUDED);
    }

    private static TickPlan.Tick tick(Schedule schedule, Instant planned, Instant next, Instant now) {
        Instant due = planned.plus(jitterOffset(schedule, planned, next));
        Duration grace = schedule.definition().policies().grace();
        return new TickPlan.Tick(Uuid7.at(now), planned, due, due.plus(grace));
    }

    /**
     * Returns a stable jitter by schedule id. It is always smaller than the distance to the next instant, so the order
     * of instants does not change.
     */
    private static Duration jitterOffset(Schedule schedule, Instant planned, Instant next) {
        long millis = schedule.definition().when().jitter().toMillis();
        if (millis == 0) return Duration.ZERO;
        long range = next.equals(Instant.MAX)
                ? millis
                : Math.min(millis, Duration.between(planned, next).toMillis() - 1);
        return stableOffset(schedule, Duration.ofMillis(range));
    }

    private static Duration spread(long lateSchedules) {
        if (lateSchedules < SPREAD_FROM_LATE_SCHEDULES) return Duration.ZERO;
        long most = MAX_SPREAD.dividedBy(SPREAD_PER_LATE_SCHEDULE);
        return SPREAD_PER_LATE_SCHEDULE.multipliedBy(Math.min(lateSchedules, most));
    }

    /** Returns a fraction of the duration that depends only on the schedule id. */
    private static Duration stableOffset(Schedule schedule, Duration whole) {
        long range = whole.toMillis();
        long hash = schedule.id().value().getLeastSignificantBits() * 0x9E3779B97F4A7C15L;
        return range <= 0 ? Duration.ZERO : Duration.ofMillis(Long.remainderUnsigned(hash, range));
    }
}
