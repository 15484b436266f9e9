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
import org.jspecify.annotations.Nullable;

/** Collects the lines of a preview: asks for the next run and looks at the changes of the clocks on the way to it. */
final class PreviewWalk {
    /** More changes than any zone makes in the 400 years a search lasts; an interval may be longer than that. */
    private static final int MOST_CHANGES = 2_000;

    private final Plan plan;
    private final ZoneRules rules;
    private final Instant after;
    private final int count;
    private final List<Entry> entries = new ArrayList<>();
    private int dropped;

    PreviewWalk(Plan plan, Instant after, int count) {
        this.plan = plan;
        this.rules = plan.zone().getRules();
        this.after = after;
        this.count = count;
    }

    List<Entry> entries() {
        Instant from = after;
        for (int runs = 0; runs < count; runs++) {
            Optional<Instant> next = plan.next(from);
            if (next.isEmpty()) {
                break;
            }
            addDropped(from, next.get());
            entries.add(entry(next.get()));
            from = next.get();
        }
        return entries;
    }

    /** One line for each gap that swallows planned times, and no more of them than runs were asked for. */
    private void addDropped(Instant from, Instant to) {
        ZoneOffsetTransition change = rules.nextTransition(from);
        int seen = 0;
        while (change != null && !change.getInstant().isAfter(to) && dropped < count && seen < MOST_CHANGES) {
            seen++;
            LocalDateTime planned = plannedInGap(change);
            if (planned != null && !plan.moves(change)) {
                dropped++;
                entries.add(new Entry(planned, change.getInstant().atOffset(change.getOffsetAfter()), Mark.DROPPED));
            }
            change = rules.nextTransition(change.getInstant());
        }
    }

    private Entry entry(Instant instant) {
        OffsetDateTime at = instant.atOffset(rules.getOffset(instant));
        ZoneOffsetTransition change = rules.previousTransition(instant.plusNanos(1));
        if (change != null && change.getInstant().equals(instant) && plan.moves(change)) {
            LocalDateTime planned = plannedInGap(change);
            if (planned != null) {
                return new Entry(planned, at, Mark.MOVED);
            }
        }
        return new Entry(at.toLocalDateTime(), at, isDoubled(at) ? Mark.DOUBLED : Mark.NONE);
    }

    private boolean isDoubled(OffsetDateTime at) {
        LocalDateTime wall = at.toLocalDateTime();
        if (!wall.equals(plan.wallAtOrAfter(wall))) {
            return false;
        }
        for (ZoneOffset offset : rules.getValidOffsets(wall)) {
            Instant pass = wall.toInstant(offset);
            if (!plan.next(pass.minusNanos(1)).equals(Optional.of(pass))) {
                return false;
            }
        }
        return rules.getValidOffsets(wall).size() > 1;
    }

    /** The first planned wall time that the change jumps over, or null. */
    private @Nullable LocalDateTime plannedInGap(ZoneOffsetTransition change) {
        if (!change.isGap()) {
            return null;
        }
        LocalDateTime planned = plan.wallAtOrAfter(change.getDateTimeBefore());
        return planned != null && planned.isBefore(change.getDateTimeAfter()) ? planned : null;
    }
}
