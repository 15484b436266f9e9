package io.carillon.schedule;

import io.carillon.value.Uuid7;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Decides which ticks a schedule needs now. Pure: the same schedule, late ticks and time give the same instants. It never looks at what is stored beyond
 * what it is handed; that the schedule did not change meanwhile is checked by whoever writes the plan.
 */
public final class TickPlanner {
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

    public Duration lookAhead() {
        return lookAhead;
    }

    /** The plan for a schedule at this time, given its ticks that nobody started in time. */
    public TickPlan plan(Schedule schedule, List<TickPlan.LateTick> lateTicks, Instant now) {
        When when = schedule.definition().when();
        Policies policies = schedule.definition().policies();
        Instant onTimeAfter = now.minus(policies.grace());
        Stretch missed = Stretch.walk(when, schedule.progress().cursor(), onTimeAfter);
        Late late = settle(schedule, lateTicks, missed, now);

        List<TickPlan.Tick> ticks = new ArrayList<>(late.born);
        Instant cursor = missed.last == null ? schedule.progress().cursor() : missed.last;
        Instant horizon = now.plus(lookAhead);
        Optional<Instant> next = when.next(cursor);
        while (next.isPresent() && !next.get().isAfter(horizon) && ticks.size() < mostTicks) {
            cursor = next.get();
            next = when.next(cursor);
            ticks.add(tick(schedule, cursor, next.orElse(Instant.MAX), policies.grace()));
        }
        return new TickPlan(schedule, cursor, next.orElse(Instant.MAX), ticks, late.gaps, late.verdicts);
    }

    /** What the missed policy makes of late ticks and of instants that were never planned: one decision about both. */
    private record Late(List<TickPlan.Tick> born, List<TickPlan.Gap> gaps, List<TickPlan.Verdict> verdicts) {}

    private static Late settle(Schedule schedule, List<TickPlan.LateTick> lateTicks, Stretch missed, Instant now) {
        List<TickPlan.LateTick> ordered = lateTicks.stream()
                .sorted(Comparator.comparing(TickPlan.LateTick::plannedAt))
                .toList();
        List<TickPlan.Verdict> verdicts = new ArrayList<>();
        List<TickPlan.Tick> born = new ArrayList<>();
        List<TickPlan.Gap> gaps = new ArrayList<>();
        Policies policies = schedule.definition().policies();
        Instant oldest = now.minus(policies.catchUp());
        boolean runOnce = policies.missed() == Missed.RUN_ONCE;
        Instant latest = missed.last;
        if (latest != null) {
            boolean runs = runOnce && !latest.isBefore(oldest);
            if (runs) born.add(new TickPlan.Tick(Uuid7.next(), latest, now, Instant.MAX));
            missed.gap(runs, reason(policies.missed(), latest.isBefore(oldest))).ifPresent(gaps::add);
        }
        for (int i = 0; i < ordered.size(); i++) {
            TickPlan.LateTick tick = ordered.get(i);
            boolean newest = latest == null && i == ordered.size() - 1;
            boolean tooOld = tick.plannedAt().isBefore(oldest);
            boolean runs = runOnce && newest && !tooOld;
            verdicts.add(new TickPlan.Verdict(tick.run(), runs ? null : reason(policies.missed(), newest && tooOld)));
        }
        return new Late(born, gaps, verdicts);
    }

    private static String reason(Missed policy, boolean tooOld) {
        if (tooOld) return "older than the catch-up window";
        return policy == Missed.RUN_ONCE ? "only the latest missed instant runs" : "missed instants are skipped";
    }

    private static TickPlan.Tick tick(Schedule schedule, Instant planned, Instant next, Duration grace) {
        Instant due = planned.plus(offset(schedule, planned, next));
        return new TickPlan.Tick(Uuid7.next(), planned, due, due.plus(grace));
    }

    /** A stable share of the jitter by the schedule's id, always smaller than the gap to the next instant: order never changes. */
    private static Duration offset(Schedule schedule, Instant planned, Instant next) {
        long millis = schedule.definition().when().jitter().toMillis();
        if (millis == 0) return Duration.ZERO;
        long room = next.equals(Instant.MAX)
                ? millis
                : Math.min(millis, Duration.between(planned, next).toMillis() - 1);
        long hash = schedule.id().value().getLeastSignificantBits() * 0x9E3779B97F4A7C15L;
        return room <= 0 ? Duration.ZERO : Duration.ofMillis(Long.remainderUnsigned(hash, room));
    }

    /** The instants after the cursor that were never planned and are past their grace. */
    private record Stretch(
            @Nullable Instant first,
            @Nullable Instant beforeLast,
            @Nullable Instant last,
            long count) {
        static Stretch walk(When when, Instant cursor, Instant until) {
            Instant first = null;
            Instant beforeLast = null;
            Instant last = null;
            long count = 0;
            Optional<Instant> at = when.next(cursor);
            while (at.isPresent() && !at.get().isAfter(until)) {
                if (first == null) first = at.get();
                beforeLast = last;
                last = at.get();
                count++;
                at = when.next(last);
            }
            return new Stretch(first, beforeLast, last, count);
        }

        Optional<TickPlan.Gap> gap(boolean lastRuns, String reason) {
            Instant end = lastRuns ? beforeLast : last;
            if (first == null || end == null) return Optional.empty();
            return Optional.of(new TickPlan.Gap(first, end, lastRuns ? count - 1 : count, "missed", reason));
        }
    }
}
