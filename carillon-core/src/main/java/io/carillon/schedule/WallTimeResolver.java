package io.carillon.schedule;

import io.carillon.schedule.DstPolicy.Gap;
import io.carillon.schedule.DstPolicy.Repeat;
import java.time.Instant;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import org.jspecify.annotations.Nullable;

/**
 * Converts wall times to instants. Between two transitions a zone has one offset, and wall times and instants differ by
 * a constant. The search therefore proceeds from period to period, and the policy applies only at their boundaries.
 */
final class WallTimeResolver {
    /** A larger jump is a change of the zone and not daylight saving: no run is moved or suppressed. */
    private static final long MAX_DST_SECONDS = 3 * 3600;

    /** More than the difference of any two offsets. */
    private static final long TWO_DAYS = 2 * WallTimes.DAY;

    private WallTimeResolver() {}

    /**
     * Returns the first instant at or after the given one, in epoch seconds; {@link WallTimes#NONE} if there is none.
     */
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
            OffsetPeriod period = OffsetPeriod.at(at, rules);
            ZoneOffsetTransition into = period.startTransition;
            if (at == period.start && into != null && runsAfterGap(into, policy) && hitsGap(into, times)) {
                return at;
            }
            long found = times.atOrAfter(period.searchStart(at, policy));
            if (found < period.searchEnd(policy)) {
                return toInstant(found, period.offset);
            }
            if (found == WallTimes.NONE || period.endTransition == null) {
                return WallTimes.NONE;
            }
            at = skipAhead(at, period.end, found);
        }
        return WallTimes.NONE;
    }

    /**
     * Returns how many instants lie between two instants (epoch seconds, both inclusive). The result equals the number
     * of instants that repeated calls of {@link #atOrAfter} find.
     */
    static long count(long from, long until, WallTimes times, ZoneRules rules, DstPolicy policy) {
        if (rules.isFixedOffset()) {
            int offset = rules.getOffset(Instant.EPOCH).getTotalSeconds();
            return times.count(from + offset, until + offset + 1);
        }
        long found = 0;
        long at = from;
        while (at <= until) {
            OffsetPeriod period = OffsetPeriod.at(at, rules);
            ZoneOffsetTransition into = period.startTransition;
            long wallTime = period.searchStart(at, policy);
            if (at == period.start && into != null && runsAfterGap(into, policy) && hitsGap(into, times)) {
                found++;
                wallTime++; // a wall time that matches exactly at this instant is the same run
            }
            found += times.count(wallTime, Math.min(period.searchEnd(policy), until + period.offset + 1));
            if (period.endTransition == null) {
                break;
            }
            at = period.end;
        }
        return found;
    }

    /** Returns whether a run planned inside the gap starts immediately after it. */
    static boolean runsAfterGap(ZoneOffsetTransition transition, DstPolicy policy) {
        return transition.isGap() && policy.gap() == Gap.RUN_AFTER && isDaylightSaving(transition);
    }

    static boolean isDaylightSaving(ZoneOffsetTransition transition) {
        return Math.abs(transition.getDuration().toSeconds()) <= MAX_DST_SECONDS;
    }

    private static boolean hitsGap(ZoneOffsetTransition gap, WallTimes times) {
        long instant = gap.toEpochSecond();
        long wallTime = times.atOrAfter(instant + gap.getOffsetBefore().getTotalSeconds());
        return wallTime < instant + gap.getOffsetAfter().getTotalSeconds();
    }

    /**
     * Skips periods before the found wall time. No earlier wall time matches and offsets differ by less than two days,
     * so these periods need no search. Close to a transition the skip would be wrong, because the clock may go back
     * behind the start of the search.
     */
    private static long skipAhead(long at, long end, long found) {
        return end - at > TWO_DAYS ? Math.max(end, found - TWO_DAYS) : end;
    }

    private static long toInstant(long wallTime, int offset) {
        return wallTime == WallTimes.NONE ? WallTimes.NONE : wallTime - offset;
    }

    /**
     * A period with a constant offset.
     *
     * @param startTransition the transition at its start; null if it is too long ago to matter
     * @param endTransition the transition at its end; null if there is none
     */
    private record OffsetPeriod(
            long start,
            long end,
            int offset,
            @Nullable ZoneOffsetTransition startTransition,
            @Nullable ZoneOffsetTransition endTransition) {

        static OffsetPeriod at(long at, ZoneRules rules) {
            // A transition further back than the largest daylight saving jump has no influence.
            ZoneOffsetTransition out = rules.nextTransition(Instant.ofEpochSecond(at - MAX_DST_SECONDS));
            ZoneOffsetTransition into = null;
            while (out != null && out.toEpochSecond() <= at) {
                into = out;
                out = rules.nextTransition(into.getInstant());
            }
            long start = into == null ? Long.MIN_VALUE : into.toEpochSecond();
            long end = out == null ? WallTimes.NONE : out.toEpochSecond();
            if (out != null) {
                return new OffsetPeriod(start, end, out.getOffsetBefore().getTotalSeconds(), into, out);
            }
            return new OffsetPeriod(
                    start, end, rules.getOffset(Instant.ofEpochSecond(at)).getTotalSeconds(), into, null);
        }

        /**
         * Returns the wall time at which the search starts. With {@link Repeat#FIRST}, wall times that the clock
         * repeats are skipped.
         */
        long searchStart(long at, DstPolicy policy) {
            long wallTime = at + offset;
            if (startTransition != null
                    && startTransition.isOverlap()
                    && policy.repeat() == Repeat.FIRST
                    && isDaylightSaving(startTransition)) {
                return Math.max(
                        wallTime, start + startTransition.getOffsetBefore().getTotalSeconds());
            }
            return wallTime;
        }

        /**
         * Returns the wall time at which the search ends. With {@link Repeat#SECOND}, wall times that the clock will
         * repeat are left to the next period.
         */
        long searchEnd(DstPolicy policy) {
            if (endTransition == null) {
                return WallTimes.NONE;
            }
            boolean leave =
                    endTransition.isOverlap() && policy.repeat() == Repeat.SECOND && isDaylightSaving(endTransition);
            return end + (leave ? endTransition.getOffsetAfter().getTotalSeconds() : offset);
        }
    }
}
