package io.carillon.internal.schedule;

import io.carillon.schedule.When;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The planned instants of a schedule after {@code after} and up to {@code last}, including those on excluded
 * dates. Cron instants are counted by month and instants of elapsed-time intervals by division; only calendar
 * intervals are iterated.
 *
 * @param first the first instant; null if the range is empty
 * @param last the last instant; null if the range is empty
 */
public record InstantRange(
        Instant after, @Nullable Instant first, @Nullable Instant last, long count) {
    /** Returns an empty range after the cursor. */
    public static InstantRange after(Instant cursor) {
        return new InstantRange(cursor, null, null, 0);
    }

    /** Returns the range extended to this instant, inclusive. */
    public InstantRange extendTo(Instant until, When when) {
        Optional<Instant> next = when.nextIncludingExcluded(last == null ? after : last);
        if (next.isEmpty() || next.get().isAfter(until)) return this;
        Instant start = first == null ? next.get() : first;
        Duration step = when.fixedPeriod();
        if (step != null) {
            long more = Duration.between(next.get(), InstantSearch.limitToEnd(when, until))
                    .dividedBy(step);
            return new InstantRange(after, start, next.get().plus(step.multipliedBy(more)), count + more + 1);
        }
        Instant end = InstantSearch.lastAtOrBefore(when::nextIncludingExcluded, next.get(), until);
        return new InstantRange(after, start, end, count + InstantSearch.count(when, next.get(), until));
    }

    /** Returns one ledger gap for the whole range; an empty list if the range is empty. */
    public List<TickPlan.LedgerGap> toGaps(String state, String reason) {
        return first == null || last == null
                ? List.of()
                : List.of(new TickPlan.LedgerGap(first, last, count, state, reason));
    }

    /**
     * Returns ledger gaps for the instants after {@code after} and up to {@code until}. Instants on excluded dates get
     * gaps of their own; the other gaps have the given state and reason.
     */
    public static List<TickPlan.LedgerGap> gapsBetween(
            When when, Instant after, Instant until, String state, String reason) {
        if (when.bounds().excluded().isEmpty())
            return after(after).extendTo(until, when).toGaps(state, reason);
        List<TickPlan.LedgerGap> gaps = new ArrayList<>();
        Optional<Instant> at = when.nextIncludingExcluded(after);
        while (at.isPresent() && !at.get().isAfter(until)) {
            boolean excluded = when.excludes(at.get());
            Instant first = at.get();
            Instant last = first;
            long count = 0;
            while (at.isPresent() && !at.get().isAfter(until) && when.excludes(at.get()) == excluded) {
                InstantRange day = after(at.get().minusNanos(1))
                        .extendTo(InstantSearch.endOfSameDate(when, at.get(), until), when);
                last = day.last == null ? at.get() : day.last;
                count += day.count;
                at = when.nextIncludingExcluded(last);
            }
            gaps.add(
                    excluded
                            ? new TickPlan.LedgerGap(first, last, count, "skipped", TickPlan.LedgerGap.EXCLUDED)
                            : new TickPlan.LedgerGap(first, last, count, state, reason));
        }
        return gaps;
    }
}
