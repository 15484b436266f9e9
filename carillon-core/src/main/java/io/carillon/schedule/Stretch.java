package io.carillon.schedule;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The instants of a schedule after {@code after}, excluded dates included, counted as far as somebody walked. A cron is counted by its months and an
 * interval of elapsed time at once; only intervals of the calendar are walked.
 */
public record Stretch(
        Instant after, @Nullable Instant first, @Nullable Instant last, long count) {
    /** Nothing walked yet. */
    public static Stretch after(Instant cursor) {
        return new Stretch(cursor, null, null, 0);
    }

    /** Goes on to this instant, inclusive. */
    public Stretch to(Instant until, When when) {
        Optional<Instant> next = when.nextAny(last == null ? after : last);
        if (next.isEmpty() || next.get().isAfter(until)) return this;
        Instant start = first == null ? next.get() : first;
        Duration step = when.step();
        if (step != null) {
            long more = Duration.between(next.get(), when.ceiling(until)).dividedBy(step);
            return new Stretch(after, start, next.get().plus(step.multipliedBy(more)), count + more + 1);
        }
        Instant end = When.last(when::nextAny, next.get(), until);
        return new Stretch(after, start, end, count + when.count(next.get(), until));
    }

    /** One line of the ledger for all of it; none where it is empty. */
    public List<TickPlan.Gap> gap(String state, String reason) {
        return first == null || last == null ? List.of() : List.of(new TickPlan.Gap(first, last, count, state, reason));
    }

    /** Lines for the instants after one and up to another: those on excluded dates for themselves, and the others with this state and reason. */
    public static List<TickPlan.Gap> gaps(When when, Instant after, Instant until, String state, String reason) {
        if (when.bounds().excluded().isEmpty())
            return after(after).to(until, when).gap(state, reason);
        List<TickPlan.Gap> gaps = new ArrayList<>();
        Optional<Instant> at = when.nextAny(after);
        while (at.isPresent() && !at.get().isAfter(until)) {
            boolean excluded = when.excludes(at.get());
            Instant first = at.get();
            Instant last = first;
            long count = 0;
            while (at.isPresent() && !at.get().isAfter(until) && when.excludes(at.get()) == excluded) {
                Stretch day = after(at.get().minusNanos(1)).to(when.sameDate(at.get(), until), when);
                last = day.last == null ? at.get() : day.last;
                count += day.count;
                at = when.nextAny(last);
            }
            gaps.add(
                    excluded
                            ? new TickPlan.Gap(first, last, count, "skipped", TickPlan.Gap.EXCLUDED)
                            : new TickPlan.Gap(first, last, count, state, reason));
        }
        return gaps;
    }
}
