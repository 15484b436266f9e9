package io.carillon.schedule;

import io.carillon.value.Uuid7;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * What the missed policy makes of ticks that nobody started in time and of instants that nobody planned: one decision about both. The latest of them run,
 * as many as the policy lets wait at the same time; the others are recorded, in one line for each stretch.
 */
final class Settlement {
    private static final Duration LEAST = Duration.ofNanos(1);
    private static final String TOO_OLD = "older than the catch-up window";

    private final Schedule schedule;
    private final When when;
    private final Policies policies;
    private final Instant now;
    private final Instant start;
    private final Instant oldest;
    private final List<TickPlan.Tick> born = new ArrayList<>();
    private final List<TickPlan.Gap> gaps = new ArrayList<>();
    private final List<TickPlan.Verdict> verdicts = new ArrayList<>();
    private Instant cursor;
    private int spread;

    Settlement(Schedule schedule, List<TickPlan.LateTick> lateTicks, Instant now, Duration wait) {
        this.schedule = schedule;
        this.when = schedule.definition().when();
        this.policies = schedule.definition().policies();
        this.now = now;
        this.start = now.plus(wait);
        this.cursor = schedule.progress().cursor();
        // What is skipped anyway is never too old for it.
        this.oldest = policies.missed() == Missed.SKIP ? Instant.MIN : now.minus(policies.catchUp());
        List<Instant> run = schedule.runsLeft() == 0 ? List.of() : latestUnplanned();
        late(lateTicks, policies.lateRuns() - run.size());
        if (schedule.runsLeft() > 0) unplanned(run);
    }

    List<TickPlan.Tick> born() {
        return born;
    }

    List<TickPlan.Gap> gaps() {
        return gaps;
    }

    List<TickPlan.Verdict> verdicts() {
        return verdicts;
    }

    /** Up to here everything is accounted for. */
    Instant cursor() {
        return cursor;
    }

    private Instant pastGrace() {
        return now.minus(policies.grace());
    }

    /** Those that were never planned and run all the same, in order. */
    private List<Instant> latestUnplanned() {
        long most = Math.min(policies.lateRuns(), schedule.runsLeft());
        Deque<Instant> latest = new ArrayDeque<>();
        if (most == 0) return List.of();
        Optional<Instant> first = when.next(cursor.isBefore(oldest) ? oldest.minus(LEAST) : cursor);
        Instant until = pastGrace();
        while (first.isPresent() && !first.get().isAfter(until) && latest.size() < most) {
            latest.addFirst(When.last(when::next, first.get(), until));
            until = latest.getFirst().minus(LEAST);
        }
        return List.copyOf(latest);
    }

    private void late(List<TickPlan.LateTick> ticks, int most) {
        ticks.stream().filter(TickPlan.LateTick::heldBack).forEach(this::heldBack);
        List<TickPlan.LateTick> ordered = ticks.stream()
                .filter(tick -> !tick.heldBack())
                .sorted(Comparator.comparing(TickPlan.LateTick::plannedAt))
                .toList();
        for (int i = 0; i < ordered.size(); i++) {
            TickPlan.LateTick tick = ordered.get(i);
            boolean tooOld = tick.plannedAt().isBefore(oldest);
            boolean runs = !tooOld && ordered.size() - i <= most;
            if (!runs) verdicts.add(missed(tick, tooOld ? TOO_OLD : reason()));
            else if (!tick.letThrough())
                verdicts.add(new TickPlan.Verdict(tick.run(), tick.plannedAt(), nextDue(), null));
        }
    }

    /** A tick that its queue held back is late, not missed, whatever the policy; the catch-up window bounds how many of them wait. */
    private void heldBack(TickPlan.LateTick tick) {
        Instant end = tick.plannedAt().plus(policies.catchUp());
        verdicts.add(
                end.isAfter(now)
                        ? new TickPlan.Verdict(tick.run(), tick.plannedAt(), now, end, null)
                        : missed(tick, TOO_OLD));
    }

    private TickPlan.Verdict missed(TickPlan.LateTick tick, String reason) {
        return new TickPlan.Verdict(tick.run(), tick.plannedAt(), now, reason);
    }

    private void unplanned(List<Instant> run) {
        Instant first = run.isEmpty() ? Instant.MAX : run.get(0).minus(LEAST);
        Instant end = first.isBefore(pastGrace()) ? first : pastGrace();
        Instant old = oldest.equals(Instant.MIN) ? oldest : oldest.minus(LEAST);
        if (old.isAfter(cursor)) record(old.isBefore(end) ? old : end, TOO_OLD);
        record(end, reason());
        for (Instant at : run) {
            record(at.minus(LEAST), reason());
            born.add(new TickPlan.Tick(Uuid7.at(now), at, nextDue(), Instant.MAX));
            cursor = at;
        }
        if (run.isEmpty()) leaveTheLastExcluded();
    }

    private void record(Instant until, String reason) {
        if (!until.isAfter(cursor)) return;
        List<TickPlan.Gap> more = Stretch.gaps(when, cursor, until, "missed", reason);
        gaps.addAll(more);
        if (!more.isEmpty()) cursor = more.get(more.size() - 1).to();
    }

    /** A stretch of excluded dates that goes on gets its one line when it is over. */
    private void leaveTheLastExcluded() {
        while (!gaps.isEmpty() && gaps.get(gaps.size() - 1).excluded()) {
            gaps.remove(gaps.size() - 1);
            cursor = gaps.isEmpty()
                    ? schedule.progress().cursor()
                    : gaps.get(gaps.size() - 1).to();
        }
    }

    private Instant nextDue() {
        if (policies.missed() != Missed.RUN_ALL) return start;
        return start.plus(policies.runAll().spread().multipliedBy(spread++));
    }

    private String reason() {
        return switch (policies.missed()) {
            case RUN_ONCE -> "only the latest missed instant runs";
            case RUN_ALL ->
                "only the latest %d missed instants run"
                        .formatted(policies.runAll().cap());
            case SKIP -> "missed instants are skipped";
        };
    }
}
