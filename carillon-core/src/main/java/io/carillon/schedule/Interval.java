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
 * A run every so often, on a grid that is anchored at the start and never drifts: the k-th instant is start + k times the
 * amount. Seconds, minutes and hours count elapsed time; days, weeks, months and years keep the wall time of the start in
 * its zone.
 */
public record Interval(long amount, ChronoUnit unit, ZonedDateTime start) {
    private static final Set<ChronoUnit> ELAPSED = EnumSet.of(ChronoUnit.SECONDS, ChronoUnit.MINUTES, ChronoUnit.HOURS);
    private static final Set<ChronoUnit> CALENDAR =
            EnumSet.of(ChronoUnit.DAYS, ChronoUnit.WEEKS, ChronoUnit.MONTHS, ChronoUnit.YEARS);

    /** So many wall times in a row inside a gap mean that all of them are: the grid keeps step with the calendar. */
    private static final int MOST_SKIPPED = 500;

    public Interval {
        requireNonNull(unit, "unit");
        requireNonNull(start, "start");
        if (amount <= 0) {
            throw new IllegalArgumentException(
                    "An interval of " + amount + " " + unit + " never moves on. Use an amount of 1 or more.");
        }
        if (!ELAPSED.contains(unit) && !CALENDAR.contains(unit)) {
            throw new IllegalArgumentException("An interval cannot count in " + unit
                    + ". Use SECONDS, MINUTES, HOURS, DAYS, WEEKS, MONTHS or YEARS.");
        }
        if (!hasSecondRun(amount, unit, start)) {
            throw new IllegalArgumentException("An interval of " + amount + " " + unit + " from " + start
                    + " leaves the calendar with its second run. Use a smaller amount.");
        }
    }

    /** An interval of the given amount whose first run is at the start. */
    public static Interval every(long amount, ChronoUnit unit, ZonedDateTime start) {
        return new Interval(amount, unit, start);
    }

    /**
     * The first planned instant strictly after the given one, under the default policy.
     *
     * @throws DateTimeException if the calendar of java.time ends before it
     */
    public Instant next(Instant after) {
        return next(after, DstPolicy.defaults())
                .orElseThrow(() -> new DateTimeException(
                        "The interval " + describe() + " has no instant after " + after + " within the calendar."));
    }

    /**
     * The first planned instant strictly after the given one; empty where the calendar ends before it, or where every
     * wall time lies in a gap that is skipped. The policy speaks for days, weeks, months and years only.
     */
    public Optional<Instant> next(Instant after, DstPolicy policy) {
        requireNonNull(policy, "policy");
        Instant first = start.toInstant();
        if (after.isBefore(first)) {
            return Optional.of(first);
        }
        return isElapsed() ? nextElapsed(first, after) : nextOnCalendar(after, policy);
    }

    /** What it means, in short English. */
    public String describe() {
        String noun = unit.toString();
        // The names of these units are constant English plurals: Seconds, Days, Months.
        String units = Character.toLowerCase(noun.charAt(0)) + noun.substring(1);
        String singular = units.substring(0, units.length() - 1);
        // Nobody chose the start of the epoch: it is where intervals begin unless somebody says so.
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
        return ELAPSED.contains(unit);
    }

    /** The first wall time of the grid at or after the given one, or null where the calendar ends. */
    @Nullable
    LocalDateTime wallAtOrAfter(LocalDateTime from) {
        long k = stepsBefore(from);
        LocalDateTime wall = wall(k);
        while (wall != null && wall.isBefore(from)) {
            k++;
            wall = wall(k);
        }
        return wall;
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
        long k = stepsBefore(wallNear(after));
        for (int skipped = 0; skipped < MOST_SKIPPED; k++) {
            LocalDateTime wall = wall(k);
            if (wall == null) {
                return Optional.empty();
            }
            List<Instant> instants = k == 0 ? startInstants(rules, policy) : instants(wall, rules, policy);
            for (Instant instant : instants) {
                if (instant.isAfter(after)) {
                    return Optional.of(instant);
                }
            }
            skipped += instants.isEmpty() ? 1 : 0;
        }
        return Optional.empty();
    }

    /** The start is what the user said, also where that is the second pass. */
    private List<Instant> startInstants(ZoneRules rules, DstPolicy policy) {
        Instant first = start.toInstant();
        List<Instant> passes = instants(start.toLocalDateTime(), rules, policy);
        Instant last = passes.get(passes.size() - 1);
        return policy.repeat() == Repeat.BOTH && last.isAfter(first) ? List.of(first, last) : List.of(first);
    }

    private static List<Instant> instants(LocalDateTime wall, ZoneRules rules, DstPolicy policy) {
        ZoneOffsetTransition transition = rules.getTransition(wall);
        if (transition == null) {
            return List.of(wall.toInstant(rules.getOffset(wall)));
        }
        if (transition.isGap()) {
            return policy.gap() == Gap.SKIP ? List.of() : List.of(transition.getInstant());
        }
        Instant first = wall.toInstant(transition.getOffsetBefore());
        Instant second = wall.toInstant(transition.getOffsetAfter());
        if (policy.repeat() == Repeat.BOTH) {
            return List.of(first, second);
        }
        return List.of(policy.repeat() == Repeat.FIRST ? first : second);
    }

    /** A number of steps that surely ends before the given wall time, at most a few too small. */
    private long stepsBefore(LocalDateTime wall) {
        return Math.max(0, unit.between(start.toLocalDateTime(), wall) / amount - 1);
    }

    /** A wall time surely before every grid point that the given instant may precede: no offset differs by two days. */
    private static LocalDateTime wallNear(Instant instant) {
        Instant earliest = LocalDateTime.MIN.plusDays(2).toInstant(ZoneOffset.UTC);
        Instant latest = LocalDateTime.MAX.toInstant(ZoneOffset.UTC);
        Instant near = instant.isBefore(earliest) ? earliest : instant.isAfter(latest) ? latest : instant;
        return LocalDateTime.ofEpochSecond(near.getEpochSecond(), 0, ZoneOffset.UTC)
                .minusDays(2);
    }

    /** Counted from the anchor, so that a month too short for it shortens this run only. */
    private @Nullable LocalDateTime wall(long k) {
        try {
            return start.toLocalDateTime().plus(Math.multiplyExact(k, amount), unit);
        } catch (DateTimeException | ArithmeticException e) {
            return null;
        }
    }
}
