package io.carillon.postgres;

import io.carillon.schedule.When;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The instants of a schedule after {@code after}, counted as far as somebody walked. Walking a year of seconds takes its time: never under a lock. */
record Stretch(
        Instant after, @Nullable Instant first, @Nullable Instant last, long count) {
    static Stretch after(Instant cursor) {
        return new Stretch(cursor, null, null, 0);
    }

    /** Goes on to this instant, inclusive. */
    Stretch to(Instant until, When when) {
        Instant start = first;
        Instant end = last;
        long number = count;
        Optional<Instant> next = when.next(end == null ? after : end);
        while (next.isPresent() && !next.get().isAfter(until)) {
            end = next.get();
            if (start == null) start = end;
            number++;
            next = when.next(end);
        }
        return new Stretch(after, start, end, number);
    }
}
