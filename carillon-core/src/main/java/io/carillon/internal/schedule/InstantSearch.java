package io.carillon.internal.schedule;

import io.carillon.internal.value.Dates;
import io.carillon.internal.value.Years;
import io.carillon.schedule.When;
import java.time.Instant;
import java.time.zone.ZoneOffsetTransition;
import java.util.Optional;
import java.util.function.Function;

/** Finds and counts the planned instants of long ranges without visiting each of them. */
public final class InstantSearch {
    private InstantSearch() {}

    /** Returns the last instant at or before {@code until}, by binary search. {@code first} is one of the instants. */
    public static Instant lastAtOrBefore(Function<Instant, Optional<Instant>> next, Instant first, Instant until) {
        long low = first.getEpochSecond() - 1;
        long high = until.getEpochSecond() + 1;
        while (high - low > 1) {
            long middle = low + (high - low) / 2;
            Optional<Instant> found = next.apply(Instant.ofEpochSecond(middle));
            if (found.isPresent() && !found.get().isAfter(until)) low = middle;
            else high = middle;
        }
        Instant last = first;
        Optional<Instant> at = next.apply(Instant.ofEpochSecond(low));
        while (at.isPresent() && !at.get().isAfter(until)) {
            last = at.get();
            at = next.apply(last);
        }
        return last;
    }

    /**
     * Returns how many instants, including those on excluded dates, lie between {@code first}, which is one of them,
     * and {@code until}, both inclusive.
     */
    static long count(When when, Instant first, Instant until) {
        if (when.timing() instanceof When.Timing.Cron cron)
            return cron.expression().count(first, limitToEnd(when, until), cron.zone(), when.dst());
        long number = 0;
        for (Optional<Instant> at = Optional.of(first);
                at.isPresent() && !at.get().isAfter(until);
                at = when.nextIncludingExcluded(at.get())) number++;
        return number;
    }

    /** Limits {@code until} to the end of the schedule and of the supported years. */
    static Instant limitToEnd(When when, Instant until) {
        Instant end = when.bounds().until();
        Instant limited = end != null && end.isBefore(until) ? end : until;
        return limited.isAfter(Years.LATEST) ? Years.LATEST : limited;
    }

    /**
     * Returns an instant up to which all instants have the same date as the given one. At least the given instant, at
     * most {@code until}.
     */
    static Instant endOfSameDate(When when, Instant at, Instant until) {
        Instant last = Dates.endOfDay(at, when.zone());
        ZoneOffsetTransition change = when.zone().getRules().nextTransition(at);
        // If the clock changes on that date, the date may start twice. The caller then proceeds instant by instant.
        if (change != null && !change.getInstant().isAfter(last)) return at;
        return last.isBefore(until) ? last : until;
    }
}
