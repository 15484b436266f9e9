package io.carillon.schedule;

import static java.util.Objects.requireNonNull;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;

/**
 * What a person sees before saving a schedule: the meaning in English and the next runs, with a mark where a change of
 * the clocks has a hand in them. The instants come from the same {@code next} that plans the runs.
 *
 * @param entries in order of time: the runs asked for, fewer if there are no more, and between them the dropped ones
 * @param warnings what is read as it is written and probably not meant; mostly empty
 */
public record Preview(String description, ZoneId zone, List<Entry> entries, List<String> warnings) {
    /** The most runs one preview shows. */
    public static final int MAX_COUNT = 1000;

    /** What a change of the clocks did to a run. */
    public enum Mark {
        /** Nothing. */
        NONE,
        /** Its wall time does not exist on that day: it runs right after the gap. */
        MOVED,
        /** Its wall time does not exist on that day: it does not run. */
        DROPPED,
        /** The clocks show its wall time twice, and it runs both times. */
        DOUBLED
    }

    /**
     * One line of a preview.
     *
     * @param planned the wall time asked for; it differs from the local time only where the clocks jump over it
     * @param at when it runs; for a dropped one, when the clocks jump
     */
    public record Entry(LocalDateTime planned, OffsetDateTime at, Mark mark) {
        public Entry {
            requireNonNull(planned, "planned");
            requireNonNull(at, "at");
            requireNonNull(mark, "mark");
        }

        public LocalDateTime local() {
            return at.toLocalDateTime();
        }

        public ZoneOffset offset() {
            return at.getOffset();
        }

        public Instant utc() {
            return at.toInstant();
        }

        /** Whether this line is a run; a dropped one is not. */
        public boolean runs() {
            return mark != Mark.DROPPED;
        }
    }

    public Preview {
        requireNonNull(description, "description");
        requireNonNull(zone, "zone");
        entries = List.copyOf(entries);
        warnings = List.copyOf(warnings);
    }

    /** A preview without warnings. */
    public Preview(String description, ZoneId zone, List<Entry> entries) {
        this(description, zone, entries, List.of());
    }

    /** The next runs of a cron expression strictly after the given instant. */
    public static Preview of(CronExpression cron, ZoneId zone, DstPolicy policy, Instant after, int count) {
        Plan plan = new Plan.OfCron(cron, zone, policy);
        return new Preview(
                cron.describe(), zone, new PreviewWalk(plan, after, checked(count)).entries(), cron.warnings());
    }

    /** The next runs of an interval strictly after the given instant, in the zone of its start. */
    public static Preview of(Interval interval, DstPolicy policy, Instant after, int count) {
        Plan plan = new Plan.OfInterval(interval, policy);
        return new Preview(interval.describe(), plan.zone(), new PreviewWalk(plan, after, checked(count)).entries());
    }

    private static int checked(int count) {
        if (count < 1 || count > MAX_COUNT) {
            throw new IllegalArgumentException(
                    "A preview of " + count + " runs is not possible. Ask for 1 to " + MAX_COUNT + ".");
        }
        return count;
    }
}
