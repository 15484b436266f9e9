package io.carillon.schedule;

import io.carillon.schedule.DstPolicy.Gap;
import io.carillon.schedule.DstPolicy.Repeat;
import java.time.Instant;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import org.jspecify.annotations.Nullable;

/**
 * Carries wall times over to instants. Between two changes of its clocks a zone has one offset, and wall times and
 * instants differ by a constant; so the search goes from stretch to stretch, and the policy speaks only at their borders.
 */
final class DstWalk {
    /** A larger jump is a change of zone, not daylight saving: nothing is moved, nothing suppressed. */
    private static final long LARGEST_DST = 3 * 3600;

    /** More than all offsets can differ. */
    private static final long TWO_DAYS = 2 * WallTimes.DAY;

    private DstWalk() {}

    /** The first instant at or after the given one (epoch seconds), or {@link WallTimes#NONE}. */
    static long atOrAfter(long from, WallTimes times, ZoneRules rules, DstPolicy policy) {
        long start = Math.max(from, WallTimes.EARLIEST);
        if (times.isEmpty() || start > WallTimes.LATEST) {
            return WallTimes.NONE;
        }
        if (rules.isFixedOffset()) {
            int offset = rules.getOffset(Instant.EPOCH).getTotalSeconds();
            return toInstant(times.atOrAfter(start + offset), offset);
        }
        long at = start;
        while (at <= start + WallTimes.CYCLE) {
            Stretch stretch = Stretch.at(at, rules);
            ZoneOffsetTransition into = stretch.into;
            if (at == stretch.start && into != null && moves(into, policy) && hitsGap(into, times)) {
                return at;
            }
            long found = times.atOrAfter(stretch.firstWall(at, policy));
            if (found < stretch.endOfWall(policy)) {
                return toInstant(found, stretch.offset);
            }
            if (found == WallTimes.NONE || stretch.out == null) {
                return WallTimes.NONE;
            }
            at = skipAhead(at, stretch.end, found);
        }
        return WallTimes.NONE;
    }

    /** How many instants lie from one to another (epoch seconds, both inclusive): as many as {@link #atOrAfter} finds one after the other. */
    static long count(long from, long until, WallTimes times, ZoneRules rules, DstPolicy policy) {
        if (rules.isFixedOffset()) {
            int offset = rules.getOffset(Instant.EPOCH).getTotalSeconds();
            return times.count(from + offset, until + offset + 1);
        }
        long found = 0;
        long at = from;
        while (at <= until) {
            Stretch stretch = Stretch.at(at, rules);
            ZoneOffsetTransition into = stretch.into;
            long wall = stretch.firstWall(at, policy);
            if (at == stretch.start && into != null && moves(into, policy) && hitsGap(into, times)) {
                found++;
                wall++; // a time of its own at this very instant is the same run
            }
            found += times.count(wall, Math.min(stretch.endOfWall(policy), until + stretch.offset + 1));
            if (stretch.out == null) {
                break;
            }
            at = stretch.end;
        }
        return found;
    }

    /** Whether a run planned inside the gap is made up for right after it. */
    static boolean moves(ZoneOffsetTransition transition, DstPolicy policy) {
        return transition.isGap() && policy.gap() == Gap.RUN_AFTER && isDaylightSaving(transition);
    }

    static boolean isDaylightSaving(ZoneOffsetTransition transition) {
        return Math.abs(transition.getDuration().toSeconds()) <= LARGEST_DST;
    }

    private static boolean hitsGap(ZoneOffsetTransition gap, WallTimes times) {
        long instant = gap.toEpochSecond();
        long wall = times.atOrAfter(instant + gap.getOffsetBefore().getTotalSeconds());
        return wall < instant + gap.getOffsetAfter().getTotalSeconds();
    }

    /**
     * No wall time before the one found matches, and no offset brings it nearer than a day: stretches until then need no
     * look. Near the border that would be wrong, for the clocks may go back behind where the search began.
     */
    private static long skipAhead(long at, long end, long found) {
        return end - at > TWO_DAYS ? Math.max(end, found - TWO_DAYS) : end;
    }

    private static long toInstant(long wall, int offset) {
        return wall == WallTimes.NONE ? WallTimes.NONE : wall - offset;
    }

    /** A time without changes: its offset, and the changes that lead into it (only if recent) and out of it. */
    private record Stretch(
            long start,
            long end,
            int offset,
            @Nullable ZoneOffsetTransition into,
            @Nullable ZoneOffsetTransition out) {

        static Stretch at(long at, ZoneRules rules) {
            // A change further back than the largest one that counts has no influence any more.
            ZoneOffsetTransition out = rules.nextTransition(Instant.ofEpochSecond(at - LARGEST_DST));
            ZoneOffsetTransition into = null;
            while (out != null && out.toEpochSecond() <= at) {
                into = out;
                out = rules.nextTransition(into.getInstant());
            }
            long start = into == null ? Long.MIN_VALUE : into.toEpochSecond();
            long end = out == null ? WallTimes.NONE : out.toEpochSecond();
            if (out != null) {
                return new Stretch(start, end, out.getOffsetBefore().getTotalSeconds(), into, out);
            }
            return new Stretch(
                    start, end, rules.getOffset(Instant.ofEpochSecond(at)).getTotalSeconds(), into, null);
        }

        /** The wall time to search from; for the first pass only, what the clocks show again is passed over. */
        long firstWall(long at, DstPolicy policy) {
            long wall = at + offset;
            if (into != null && into.isOverlap() && policy.repeat() == Repeat.FIRST && isDaylightSaving(into)) {
                return Math.max(wall, start + into.getOffsetBefore().getTotalSeconds());
            }
            return wall;
        }

        /** The wall time to search to; for the second pass only, what the clocks will show again is left to it. */
        long endOfWall(DstPolicy policy) {
            if (out == null) {
                return WallTimes.NONE;
            }
            boolean leave = out.isOverlap() && policy.repeat() == Repeat.SECOND && isDaylightSaving(out);
            return end + (leave ? out.getOffsetAfter().getTotalSeconds() : offset);
        }
    }
}
