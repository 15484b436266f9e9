package io.carillon.schedule;

import static java.util.Objects.requireNonNull;

import io.carillon.schedule.DstPolicy.Gap;
import io.carillon.schedule.DstPolicy.Repeat;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Planned instants at a fixed distance, counted from a start: the k-th instant is start + k * amount, so the instants
 * do not drift. Seconds, minutes and hours are elapsed time. Days, weeks, months and years keep the wall time of the
 * start in its zone.
 */
public record Interval(long amount, ChronoUnit unit, ZonedDateTime start) {
    private static final Set<ChronoUnit> ELAPSED_UNITS =
            EnumSet.of(ChronoUnit.SECONDS, ChronoUnit.MINUTES, ChronoUnit.HOURS);
    private static final Set<ChronoUnit> CALENDAR_UNITS =
            EnumSet.of(ChronoUnit.DAYS, ChronoUnit.WEEKS, ChronoUnit.MONTHS, ChronoUnit.YEARS);

    /**
     * If this many consecutive wall times are inside a gap, all are: the interval is then aligned with the calendar.
     */
    private static final int MAX_SKIPPED = 500;

    public Interval {
        requireNonNull(unit, "unit");
        requireNonNull(start, "start");
        if (amount <= 0) {
            throw new IllegalArgumentException("amount must be at least 1 (was " + amount + ").");
        }
        if (!ELAPSED_UNITS.contains(unit) && !CALENDAR_UNITS.contains(unit)) {
            throw new IllegalArgumentException(
                    "unit must be SECONDS, MINUTES, HOURS, DAYS, WEEKS, MONTHS or YEARS (was " + unit + ").");
        }
        if (!hasSecondRun(amount, unit, start)) {
            throw new IllegalArgumentException("The second run of an interval of " + amount + " " + unit + " from "
                    + start + " is outside the supported calendar. Use a smaller amount.");
        }
    }

    /** Returns an interval whose first run is at the start. */
    public static Interval every(long amount, ChronoUnit unit, ZonedDateTime start) {
        return new Interval(amount, unit, start);
    }

    /**
     * Returns the first planned instant strictly after the given one, with the default policy.
     *
     * @throws DateTimeException if the instant is outside the calendar of java.time
     */
    public Instant next(Instant after) {
        return next(after, DstPolicy.defaults())
                .orElseThrow(() -> new DateTimeException("The interval " + describe() + " has no instant after " + after
                        + " within the supported" + " calendar."));
    }

    /**
     * Returns the first planned instant strictly after the given one; empty if it is outside the calendar of
     * java.time, or if every wall time is in a gap that the policy skips. The policy applies only to days, weeks,
     * months and years.
     */
    public Optional<Instant> next(Instant after, DstPolicy policy) {
        requireNonNull(policy, "policy");
        Instant first = start.toInstant();
        if (after.isBefore(first)) {
            return Optional.of(first);
        }
        return isElapsed() ? nextElapsed(first, after) : nextOnCalendar(after, policy);
    }

    /** Returns a short English description. */
    public String describe() {
        String noun = unit.toString();
        // The names of these units are constant English plurals: Seconds, Days, Months.
        String units = Character.toLowerCase(noun.charAt(0)) + noun.substring(1);
        String singular = units.substring(0, units.length() - 1);
        // The epoch is the default start of intervals, so the description omits it.
        String from = isElapsed() && start.toInstant().equals(Instant.EPOCH) ? "" : " from " + start;
        return "Every " + (amount == 1 ? singular : amount + " " + units) + from;
    }

    private static boolean hasSecondRun(long amount, ChronoUnit unit, ZonedDateTime start) {
        try {
            return start.plus(amount, unit).isAfter(start);
        } catch (DateTimeException | ArithmeticException e) {
            return false;
        }
    }

    boolean isElapsed() {
        return ELAPSED_UNITS.contains(unit);
    }

    /** Returns the first wall time of the interval at or after the given one; null if it is outside the calendar. */
    @Nullable
    LocalDateTime wallTimeAtOrAfter(LocalDateTime from) {
        long k = stepsBefore(from);
        LocalDateTime wallTime = wallTimeOf(k);
        while (wallTime != null && wallTime.isBefore(from)) {
            k++;
            wallTime = wallTimeOf(k);
        }
        return wallTime;
    }

    private Optional<Instant> nextElapsed(Instant first, Instant after) {
        try {
            long step = Math.multiplyExact(amount, unit.getDuration().toSeconds());
            long elapsed = Math.subtractExact(after.getEpochSecond(), first.getEpochSecond());
            long whole = after.getNano() < first.getNano() ? elapsed - 1 : elapsed;
            return Optional.of(first.plusSeconds(Math.multiplyExact(whole / step + 1, step)));
        } catch (DateTimeException | ArithmeticException e) {
            return Optional.empty();
        }
    }

    private Optional<Instant> nextOnCalendar(Instant after, DstPolicy policy) {
        ZoneRules rules = start.getZone().getRules();
        long k = stepsBefore(wallTimeBefore(after));
        for (int skipped = 0; skipped < MAX_SKIPPED; k++) {
            LocalDateTime wallTime = wallTimeOf(k);
            if (wallTime == null) {
                return Optional.empty();
            }
            List<Instant> instants = k == 0 ? startInstants(rules, policy) : instants(wallTime, rules, policy);
            for (Instant instant : instants) {
                if (instant.isAfter(after)) {
                    return Optional.of(instant);
                }
            }
            skipped += instants.isEmpty() ? 1 : 0;
        }
        return Optional.empty();
    }

    /** Returns the start as the user specified it, even if it is the second of two equal wall times. */
    private List<Instant> startInstants(ZoneRules rules, DstPolicy policy) {
        Instant first = start.toInstant();
        List<Instant> passes = instants(start.toLocalDateTime(), rules, policy);
        Instant last = passes.get(passes.size() - 1);
        return policy.repeat() == Repeat.BOTH && last.isAfter(first) ? List.of(first, last) : List.of(first);
    }

    private static List<Instant> instants(LocalDateTime wallTime, ZoneRules rules, DstPolicy policy) {
        ZoneOffsetTransition transition = rules.getTransition(wallTime);
        if (transition == null) {
            return List.of(wallTime.toInstant(rules.getOffset(wallTime)));
        }
        if (transition.isGap()) {
            return policy.gap() == Gap.SKIP ? List.of() : List.of(transition.getInstant());
        }
        Instant first = wallTime.toInstant(transition.getOffsetBefore());
        Instant second = wallTime.toInstant(transition.getOffsetAfter());
        if (policy.repeat() == Repeat.BOTH) {
            return List.of(first, second);
        }
        return List.of(policy.repeat() == Repeat.FIRST ? first : second);
    }

    /** Returns a number of steps that ends before the given wall time. It may be too small by a few steps. */
    private long stepsBefore(LocalDateTime wallTime) {
        return Math.max(0, unit.between(start.toLocalDateTime(), wallTime) / amount - 1);
    }

    /**
     * Returns a wall time that is earlier than every step after the given instant. Offsets differ by less
     * than two days.
     */
    private static LocalDateTime wallTimeBefore(Instant instant) {
        Instant earliest = LocalDateTime.MIN.plusDays(2).toInstant(ZoneOffset.UTC);
        Instant latest = LocalDateTime.MAX.toInstant(ZoneOffset.UTC);
        Instant near = instant.isBefore(earliest) ? earliest : instant.isAfter(latest) ? latest : instant;
        return LocalDateTime.ofEpochSecond(near.getEpochSecond(), 0, ZoneOffset.UTC)
                .minusDays(2);
    }

    /** Counts from the start, so that a short month shortens only its own run. */
    private @Nullable LocalDateTime wallTimeOf(long k) {
        try {
            return start.toLocalDateTime().plus(Math.multiplyExact(k, amount), unit);
        } catch (DateTimeException | ArithmeticException e) {
            return null;
        }
    }
}
