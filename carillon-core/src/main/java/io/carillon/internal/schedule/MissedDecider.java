package io.carillon.internal.schedule;

import io.carillon.internal.value.Uuid7;
import io.carillon.schedule.MissedPolicy;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.SchedulePolicies;
import io.carillon.schedule.When;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * Applies the missed policy to ticks that no node started in time and to instants that were never planned, in one
 * decision. The latest instants run, as many as the policy allows to wait at the same time. The others are recorded
 * with one ledger entry per range.
 */
final class MissedDecider {
    private static final Duration SMALLEST_STEP = Duration.ofNanos(1);
    private static final String TOO_OLD = "older than the catch-up window";

    private final Schedule schedule;
    private final When when;
    private final SchedulePolicies schedulePolicies;
    private final Instant now;
    private final Instant firstDue;
    private final Instant catchUpStart;
    private final List<TickPlan.Tick> newTicks = new ArrayList<>();
    private final List<TickPlan.LedgerGap> gaps = new ArrayList<>();
    private final List<TickPlan.LateDecision> lateDecisions = new ArrayList<>();
    private Instant cursor;
    private int spreadCount;

    MissedDecider(Schedule schedule, List<TickPlan.LateTick> lateTicks, Instant now, Duration wait) {
        this.schedule = schedule;
        this.when = schedule.definition().when();
        this.schedulePolicies = schedule.definition().policies();
        this.now = now;
        this.firstDue = now.plus(wait);
        this.cursor = schedule.planningState().cursor();
        // With the policy SKIP, the catch-up window has no meaning, so no instant is too old for it.
        this.catchUpStart =
                schedulePolicies.missed() == MissedPolicy.SKIP ? Instant.MIN : now.minus(schedulePolicies.catchUp());
        List<Instant> run = schedule.runsLeft() == 0 ? List.of() : latestUnplanned();
        decideLateTicks(lateTicks, schedulePolicies.maxLateRuns() - run.size());
        if (schedule.runsLeft() > 0) resolveUnplanned(run);
    }

    List<TickPlan.Tick> newTicks() {
        return newTicks;
    }

    List<TickPlan.LedgerGap> gaps() {
        return gaps;
    }

    List<TickPlan.LateDecision> lateDecisions() {
        return lateDecisions;
    }

    /** Returns the instant up to which every planned instant has a run or a ledger entry. */
    Instant cursor() {
        return cursor;
    }

    private Instant graceStart() {
        return now.minus(schedulePolicies.grace());
    }

    /** Returns the instants that were never planned and run late, in order. */
    private List<Instant> latestUnplanned() {
        long maxRuns = Math.min(schedulePolicies.maxLateRuns(), schedule.runsLeft());
        Deque<Instant> latest = new ArrayDeque<>();
        if (maxRuns == 0) return List.of();
        Optional<Instant> first = when.next(cursor.isBefore(catchUpStart) ? catchUpStart.minus(SMALLEST_STEP) : cursor);
        Instant until = graceStart();
        while (first.isPresent() && !first.get().isAfter(until) && latest.size() < maxRuns) {
            latest.addFirst(InstantSearch.lastAtOrBefore(when::next, first.get(), until));
            until = latest.getFirst().minus(SMALLEST_STEP);
        }
        return List.copyOf(latest);
    }

    private void decideLateTicks(List<TickPlan.LateTick> ticks, int maxRuns) {
        ticks.stream().filter(TickPlan.LateTick::heldByQueue).forEach(this::decideHeldTick);
        List<TickPlan.LateTick> ordered = ticks.stream()
                .filter(tick -> !tick.heldByQueue())
                .sorted(Comparator.comparing(TickPlan.LateTick::plannedAt))
                .toList();
        for (int i = 0; i < ordered.size(); i++) {
            TickPlan.LateTick tick = ordered.get(i);
            boolean tooOld = tick.plannedAt().isBefore(catchUpStart);
            boolean runs = !tooOld && ordered.size() - i <= maxRuns;
            if (!runs) lateDecisions.add(missedDecision(tick, tooOld ? TOO_OLD : reason()));
            else if (!tick.alreadyApproved())
                lateDecisions.add(new TickPlan.LateDecision(tick.run(), tick.plannedAt(), nextDue(), null));
        }
    }

    /**
     * Decides about a tick that its queue held back. Such a tick is late and not missed under every policy; only a tick
     * older than the catch-up window is missed.
     */
    private void decideHeldTick(TickPlan.LateTick tick) {
        Instant end = tick.plannedAt().plus(schedulePolicies.catchUp());
        lateDecisions.add(
                end.isAfter(now)
                        ? new TickPlan.LateDecision(tick.run(), tick.plannedAt(), now, end, null)
                        : missedDecision(tick, TOO_OLD));
    }

    private TickPlan.LateDecision missedDecision(TickPlan.LateTick tick, String reason) {
        return new TickPlan.LateDecision(tick.run(), tick.plannedAt(), now, reason);
    }

    private void resolveUnplanned(List<Instant> run) {
        Instant first = run.isEmpty() ? Instant.MAX : run.get(0).minus(SMALLEST_STEP);
        Instant end = first.isBefore(graceStart()) ? first : graceStart();
        Instant old = catchUpStart.equals(Instant.MIN) ? catchUpStart : catchUpStart.minus(SMALLEST_STEP);
        if (old.isAfter(cursor)) recordGaps(old.isBefore(end) ? old : end, TOO_OLD);
        recordGaps(end, reason());
        for (Instant at : run) {
            recordGaps(at.minus(SMALLEST_STEP), reason());
            newTicks.add(new TickPlan.Tick(Uuid7.at(now), at, nextDue(), Instant.MAX));
            cursor = at;
        }
        if (run.isEmpty()) dropTrailingExcludedGaps();
    }

    private void recordGaps(Instant until, String reason) {
        if (!until.isAfter(cursor)) return;
        List<TickPlan.LedgerGap> more = InstantRange.gapsBetween(when, cursor, until, "missed", reason);
        gaps.addAll(more);
        if (!more.isEmpty()) cursor = more.get(more.size() - 1).to();
    }

    /**
     * Removes gaps of excluded dates at the end. A range of excluded dates that continues gets its single entry when it
     * is complete.
     */
    private void dropTrailingExcludedGaps() {
        while (!gaps.isEmpty() && gaps.get(gaps.size() - 1).isExcluded()) {
            gaps.remove(gaps.size() - 1);
            cursor = gaps.isEmpty()
                    ? schedule.planningState().cursor()
                    : gaps.get(gaps.size() - 1).to();
        }
    }

    private Instant nextDue() {
        if (schedulePolicies.missed() != MissedPolicy.RUN_ALL) return firstDue;
        return firstDue.plus(schedulePolicies.runAll().spread().multipliedBy(spreadCount++));
    }

    private String reason() {
        return switch (schedulePolicies.missed()) {
            case RUN_ONCE -> "only the latest missed instant runs";
            case RUN_ALL ->
                "only the latest %d missed instants run"
                        .formatted(schedulePolicies.runAll().cap());
            case SKIP -> "missed instants are skipped";
        };
    }
}
