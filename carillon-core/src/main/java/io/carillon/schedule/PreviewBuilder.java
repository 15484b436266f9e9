package io.carillon.schedule;

import io.carillon.schedule.Preview.Entry;
import io.carillon.schedule.Preview.Mark;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Builds the entries of a preview from the next runs and the daylight saving transitions between them. */
final class PreviewBuilder {
    /**
     * More than the transitions of any zone in the 400 years that a search covers; an interval may be longer than that.
     */
    private static final int MAX_CHANGES = 2_000;

    private final PreviewSource source;
    private final ZoneRules rules;
    private final Range range;
    private final SearchBudget budget;
    private final List<Entry> entries = new ArrayList<>();
    private int dropped;

    /** The requested part of a schedule: at most {@code count} runs after one instant and up to another. */
    record Range(Instant after, Instant until, int count) {}

    PreviewBuilder(PreviewSource previewSource, Range range, SearchBudget budget) {
        this.source = previewSource;
        this.rules = previewSource.zone().getRules();
        this.range = range;
        this.budget = budget;
    }

    /** Returns the entries; {@code nextRun} returns the first run after an instant. */
    List<Entry> entries(Function<Instant, Optional<Instant>> nextRun) {
        Instant from = range.after;
        for (int runs = 0; runs < range.count; runs++) {
            budget.takeStep();
            Optional<Instant> next = nextRun.apply(from);
            if (next.isEmpty()) {
                break;
            }
            if (next.get().isAfter(range.until)) {
                addDropped(from, range.until);
                break;
            }
            addDropped(from, next.get());
            entries.add(entry(next.get()));
            from = next.get();
        }
        return entries;
    }

    /** Adds one entry for each gap that skips planned times, limited to the number of requested runs. */
    private void addDropped(Instant from, Instant to) {
        ZoneOffsetTransition change = rules.nextTransition(from);
        int seen = 0;
        while (change != null && !change.getInstant().isAfter(to) && dropped < range.count && seen < MAX_CHANGES) {
            seen++;
            budget.takeStep();
            LocalDateTime planned = plannedInGap(change);
            if (planned != null && !source.runsAfterGap(change)) {
                dropped++;
                entries.add(new Entry(planned, change.getInstant().atOffset(change.getOffsetAfter()), Mark.DROPPED));
            }
            change = rules.nextTransition(change.getInstant());
        }
    }

    private Entry entry(Instant instant) {
        OffsetDateTime at = instant.atOffset(rules.getOffset(instant));
        ZoneOffsetTransition change = rules.previousTransition(instant.plusNanos(1));
        if (change != null && change.getInstant().equals(instant) && source.runsAfterGap(change)) {
            LocalDateTime planned = plannedInGap(change);
            if (planned != null) {
                return new Entry(planned, at, Mark.MOVED);
            }
        }
        return new Entry(at.toLocalDateTime(), at, isDoubled(at) ? Mark.DOUBLED : Mark.NONE);
    }

    private boolean isDoubled(OffsetDateTime at) {
        LocalDateTime wallTime = at.toLocalDateTime();
        if (!wallTime.equals(source.wallTimeAtOrAfter(wallTime))) {
            return false;
        }
        for (ZoneOffset offset : rules.getValidOffsets(wallTime)) {
            Instant pass = wallTime.toInstant(offset);
            if (!source.next(pass.minusNanos(1)).equals(Optional.of(pass))) {
                return false;
            }
        }
        return rules.getValidOffsets(wallTime).size() > 1;
    }

    /** Returns the first planned wall time that the transition skips; null if there is none. */
    private @Nullable LocalDateTime plannedInGap(ZoneOffsetTransition change) {
        if (!change.isGap()) {
            return null;
        }
        LocalDateTime planned = source.wallTimeAtOrAfter(change.getDateTimeBefore());
        return planned != null && planned.isBefore(change.getDateTimeAfter()) ? planned : null;
    }
}
