package io.carillon.schedule;

import static java.util.Objects.requireNonNull;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;

/**
 * The description and the next runs of a schedule, for a person who is about to save it. Runs affected by daylight
 * saving transitions are marked. The instants are computed by the method that also plans the runs.
 *
 * @param entries the requested number of runs, or fewer if there are no more, with the dropped runs between them, in
 *     order of time
 * @param warnings warnings about notations that are valid but probably unintended
 */
public record Preview(String description, ZoneId zone, List<Entry> entries, List<String> warnings) {
    /** The maximum number of runs in a preview. */
    public static final int MAX_COUNT = 1000;

    /** How a daylight saving transition affects a run. */
    public enum Mark {
        /** The run is not affected. */
        NONE,
        /** The wall time does not exist on that day; the run starts immediately after the gap. */
        MOVED,
        /** The wall time does not exist on that day; there is no run. */
        DROPPED,
        /** The clock shows the wall time twice, and there are two runs. */
        DOUBLED
    }

    /**
     * One entry of a preview.
     *
     * @param planned the planned wall time; differs from the local time only if the clock skips it
     * @param at when the run starts; for a dropped run, when the clock jumps
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

        /** Returns whether this entry is a run. A dropped entry is not. */
        public boolean willRun() {
            return mark != Mark.DROPPED;
        }
    }

    public Preview {
        requireNonNull(description, "description");
        requireNonNull(zone, "zone");
        entries = List.copyOf(entries);
        warnings = List.copyOf(warnings);
    }

    /** Creates a preview without warnings. */
    public Preview(String description, ZoneId zone, List<Entry> entries) {
        this(description, zone, entries, List.of());
    }

    /** Returns the next runs of a cron expression strictly after the given instant. */
    public static Preview of(CronExpression cron, ZoneId zone, DstPolicy policy, Instant after, int count) {
        PreviewSource source = new PreviewSource.CronSource(cron, zone, policy);
        return new Preview(cron.describe(), zone, entries(source, after, count), cron.warnings());
    }

    /** Returns the next runs of an interval strictly after the given instant, in the zone of its start. */
    public static Preview of(Interval interval, DstPolicy policy, Instant after, int count) {
        PreviewSource source = new PreviewSource.IntervalSource(interval, policy);
        return new Preview(interval.describe(), source.zone(), entries(source, after, count));
    }

    private static List<Entry> entries(PreviewSource source, Instant after, int count) {
        PreviewBuilder.Range range = new PreviewBuilder.Range(after, Instant.MAX, requireCount(count));
        return new PreviewBuilder(source, range, SearchBudget.unlimited()).entries(source::next);
    }

    private static int requireCount(int count) {
        if (count < 1 || count > MAX_COUNT) {
            throw new IllegalArgumentException("count must be between 1 and " + MAX_COUNT + " (was " + count + ").");
        }
        return count;
    }
}
