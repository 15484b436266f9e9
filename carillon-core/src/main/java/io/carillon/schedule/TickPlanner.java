package io.carillon.schedule;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.value.Uuid7;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Decides which ticks a schedule needs now. Pure: the same schedule, late ticks and time give the same instants. It never looks at what is stored beyond
 * what it is handed; that the schedule did not change meanwhile is checked by whoever writes the plan.
 */
public final class TickPlanner {
    private static final Duration SHORTEST = Duration.ofSeconds(20);
    private static final Duration LONGEST = Duration.ofHours(1);
    private static final int FEW_LATE = 100;
    private static final Duration EACH_LATE = Duration.ofMillis(10);
    private static final Duration WIDEST_SPREAD = Duration.ofMinutes(1);

    private final Duration lookAhead;
    private final int mostTicks;

    /** Plans this far ahead, and no more ticks for one schedule at a time. */
    public TickPlanner(Duration lookAhead, int mostTicks) {
        this.lookAhead = lookAhead;
        this.mostTicks = mostTicks;
    }

    /** The shipped choice: two minutes ahead, 64 ticks at a time. */
    public static TickPlanner defaults() {
        return new TickPlanner(Duration.ofMinutes(2), 64);
    }

    /** Plans this far ahead, 64 ticks at a time: between 20 seconds and an hour. Nodes look every 10 seconds, and ticks must not be planned after they are due. */
    public static TickPlanner ahead(Duration lookAhead) {
        if (lookAhead.compareTo(SHORTEST) < 0 || lookAhead.compareTo(LONGEST) > 0)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION, "lookAhead must be between 20 s and 1 h (was %s).".formatted(lookAhead));
        return new TickPlanner(lookAhead, 64);
    }

    public Duration lookAhead() {
        return lookAhead;
    }

    /** A schedule gets ticks again when it has none beyond this: one write then makes several, where its instants are that close together. */
    public Duration renewAhead() {
        return lookAhead.dividedBy(2);
    }

    /** {@link #plan(Schedule, List, Instant, long)} where few schedules are late. */
    public TickPlan plan(Schedule schedule, List<TickPlan.LateTick> lateTicks, Instant now) {
        return plan(schedule, lateTicks, now, 0);
    }

    /**
     * The plan for a schedule at this time, given its ticks that no node started in time, and how many schedules are late with it. From 100 on, their late
     * runs fall due one after the other, 10 ms each and at most a minute in all, at a time that is the same for a schedule whichever node plans it.
     */
    public TickPlan plan(Schedule schedule, List<TickPlan.LateTick> lateTicks, Instant now, long lateSchedules) {
        When when = schedule.definition().when();
        Settlement late = new Settlement(schedule, lateTicks, now, share(schedule, spread(lateSchedules)));
        List<TickPlan.Tick> ticks = new ArrayList<>(late.born());
        List<TickPlan.Gap> gaps = new ArrayList<>(late.gaps());
        Instant cursor = late.cursor();
        long most = late.born().size()
                + Math.min(
                        atOnce(when, cursor, now),
                        schedule.runsLeft() - late.born().size());
        Instant horizon = now.plus(lookAhead);
        Optional<Instant> next = when.next(cursor);
        while (next.isPresent() && !next.get().isAfter(horizon) && ticks.size() < most) {
            Instant at = next.get();
            gaps.addAll(excluded(when, cursor, at));
            cursor = at;
            next = when.next(cursor);
            ticks.add(tick(schedule, cursor, next.orElse(Instant.MAX), now));
        }
        boolean over = ticks.size() >= schedule.runsLeft();
        return new TickPlan(
                schedule, cursor, over ? Instant.MAX : next.orElse(Instant.MAX), ticks, gaps, late.verdicts());
    }

    /** An interval that follows the backlog is known when the instant before is over: one at a time. */
    private int atOnce(When when, Instant cursor, Instant now) {
        if (when.adaptive() == null) return mostTicks;
        return cursor.isAfter(now) ? 0 : 1;
    }

    /** All that lies between an instant and the next that fires is on excluded dates. */
    private static List<TickPlan.Gap> excluded(When when, Instant cursor, Instant next) {
        if (when.bounds().excluded().isEmpty()) return List.of();
        return Stretch.gaps(when, cursor, next.minusNanos(1), "skipped", TickPlan.Gap.EXCLUDED);
    }

    private static TickPlan.Tick tick(Schedule schedule, Instant planned, Instant next, Instant now) {
        Instant due = planned.plus(offset(schedule, planned, next));
        Duration grace = schedule.definition().policies().grace();
        return new TickPlan.Tick(Uuid7.at(now), planned, due, due.plus(grace));
    }

    /** A stable share of the jitter by the schedule's id, always smaller than the gap to the next instant: order never changes. */
    private static Duration offset(Schedule schedule, Instant planned, Instant next) {
        long millis = schedule.definition().when().jitter().toMillis();
        if (millis == 0) return Duration.ZERO;
        long room = next.equals(Instant.MAX)
                ? millis
                : Math.min(millis, Duration.between(planned, next).toMillis() - 1);
        return share(schedule, Duration.ofMillis(room));
    }

    private static Duration spread(long lateSchedules) {
        if (lateSchedules < FEW_LATE) return Duration.ZERO;
        long most = WIDEST_SPREAD.dividedBy(EACH_LATE);
        return EACH_LATE.multipliedBy(Math.min(lateSchedules, most));
    }

    /** A share of a time that depends on the schedule's id alone. */
    private static Duration share(Schedule schedule, Duration whole) {
        long room = whole.toMillis();
        long hash = schedule.id().value().getLeastSignificantBits() * 0x9E3779B97F4A7C15L;
        return room <= 0 ? Duration.ZERO : Duration.ofMillis(Long.remainderUnsigned(hash, room));
    }
}
