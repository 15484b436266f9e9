package io.carillon.schedule;

import io.carillon.CarillonException;
import io.carillon.CronSyntaxException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.Dates;
import io.carillon.internal.value.TextCleaner;
import io.carillon.internal.value.Years;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The timing of a schedule, with its daylight saving policy, bounds and jitter. Immutable; each method returns a
 * changed copy.
 */
public record When(Timing timing, DstPolicy dst, Bounds bounds, Duration jitter) {
    private static final Duration MAX_JITTER = Duration.ofDays(1);

    /** The three kinds of timing, and a timing that this process cannot read. */
    public sealed interface Timing {
        /** A cron expression in a time zone. */
        record Cron(CronExpression expression, ZoneId zone) implements Timing {}

        /**
         * A fixed or adaptive interval.
         *
         * @param adaptive the bounds of an adaptive interval; null if the interval is fixed
         */
        record Every(Interval interval, @Nullable AdaptiveInterval adaptive) implements Timing {
            public Every(Interval interval) {
                this(interval, null);
            }
        }

        /** A single instant. */
        record Once(Instant at) implements Timing {}

        /**
         * A stored definition that this process cannot read, for example from a newer version or with an unknown time
         * zone. It has no planned instants in this process.
         *
         * @param stored the stored values of the definition
         * @param error why they cannot be read
         */
        record Unreadable(Map<String, String> stored, String error) implements Timing {
            public Unreadable {
                stored = Collections.unmodifiableMap(new LinkedHashMap<>(stored));
            }
        }
    }

    /**
     * The bounds of a schedule.
     *
     * @param from the earliest possible instant, inclusive; null if unbounded
     * @param until the latest possible instant, inclusive; null if unbounded
     * @param excluded dates on which the schedule does not run
     * @param maxRuns how many runs the schedule creates; null if unlimited
     */
    public record Bounds(
            @Nullable Instant from,
            @Nullable Instant until,
            Set<LocalDate> excluded,
            @Nullable Long maxRuns) {
        static final Bounds NONE = new Bounds(null, null, Set.of(), null);
        private static final int MAX_EXCLUDED = 1_000;

        public Bounds {
            excluded = Set.copyOf(excluded);
            if (excluded.size() > MAX_EXCLUDED)
                throw invalid("%d excluded dates are given; at most %d are allowed."
                        .formatted(excluded.size(), MAX_EXCLUDED));
            for (LocalDate date : excluded)
                Years.check("excluded date", date.atStartOfDay(ZoneOffset.UTC).toInstant());
            if (maxRuns != null && maxRuns < 1)
                throw invalid("maxRuns must be at least 1 (was %d).".formatted(maxRuns));
            if (from != null) Years.check("from", from);
            if (until != null) Years.check("until", until);
            if (from != null && until != null && from.isAfter(until))
                throw invalid("from must not be after until (from was %s, until was %s).".formatted(from, until));
        }
    }

    public When {
        if (jitter.isNegative() || jitter.compareTo(MAX_JITTER) > 0)
            throw invalid("jitter must be between 0 and 1 day (was %s).".formatted(jitter));
    }

    /** Returns a timing by a cron expression in an IANA time zone. */
    public static When cron(String text, String zone) {
        return cron(text, zone(zone));
    }

    /** Returns a timing by a cron expression in a time zone. */
    public static When cron(String text, ZoneId zone) {
        try {
            return of(new Timing.Cron(CronExpression.parse(text), zone));
        } catch (CronSyntaxException wrong) {
            throw new CarillonException(ErrorCode.CRON_SYNTAX, String.valueOf(wrong.getMessage()), wrong);
        }
    }

    /** Returns a timing with a fixed interval. The start determines all later instants. */
    public static When every(long amount, ChronoUnit unit, ZonedDateTime start) {
        Years.check("start", start.toInstant());
        try {
            return of(new Timing.Every(Interval.every(amount, unit, start)));
        } catch (IllegalArgumentException wrong) {
            throw new CarillonException(ErrorCode.INVALID_OPTION, String.valueOf(wrong.getMessage()), wrong);
        }
    }

    /**
     * Returns a timing with a fixed interval. Its instants are multiples of the period since 1970-01-01T00:00Z,
     * independent of when the schedule is created.
     */
    public static When every(Duration period) {
        if (!period.equals(Duration.ofSeconds(period.toSeconds())) || period.isNegative() || period.isZero())
            throw invalid("period must be a positive number of whole seconds (was %s).".formatted(period));
        return every(period.toSeconds(), ChronoUnit.SECONDS, Instant.EPOCH.atZone(ZoneOffset.UTC));
    }

    /**
     * Returns a timing whose interval adapts to the backlog of the schedule's lane, between two bounds. It starts with
     * the shorter one.
     */
    public static When adaptive(Duration min, Duration max) {
        AdaptiveInterval adaptiveInterval = new AdaptiveInterval(min, max);
        return of(new Timing.Every(
                Interval.every(min.toSeconds(), ChronoUnit.SECONDS, Instant.EPOCH.atZone(ZoneOffset.UTC)),
                adaptiveInterval));
    }

    /** Returns the bounds of an adaptive interval; null if the timing is not adaptive. */
    public @Nullable AdaptiveInterval adaptive() {
        return timing instanceof Timing.Every every ? every.adaptive() : null;
    }

    /** Returns a copy with another interval, counted from an instant. */
    public When withPeriod(Duration period, Instant from) {
        Interval interval = Interval.every(period.toSeconds(), ChronoUnit.SECONDS, from.atZone(ZoneOffset.UTC));
        return new When(new Timing.Every(interval, adaptive()), dst, bounds, jitter);
    }

    /**
     * Returns a copy with the current interval of another timing, if both are adaptive with the same bounds. The
     * current interval is not part of the definition.
     */
    When withCurrentIntervalOf(When other) {
        AdaptiveInterval adaptiveInterval = adaptive();
        return adaptiveInterval != null && adaptiveInterval.equals(other.adaptive())
                ? new When(other.timing, dst, bounds, jitter)
                : this;
    }

    /** Returns a timing with one planned instant. */
    public static When once(Instant at) {
        return of(new Timing.Once(at));
    }

    private static When of(Timing timing) {
        return new When(timing, DstPolicy.defaults(), Bounds.NONE, Duration.ZERO);
    }

    /** Sets what happens to wall times that a daylight saving transition skips or repeats. */
    public When dst(DstPolicy dst) {
        return new When(timing, dst, bounds, jitter);
    }

    /** Sets the earliest possible instant, inclusive. */
    public When from(Instant from) {
        return withBounds(new Bounds(from, bounds.until, bounds.excluded, bounds.maxRuns));
    }

    /** Sets the latest possible instant, inclusive. */
    public When until(Instant until) {
        return withBounds(new Bounds(bounds.from, until, bounds.excluded, bounds.maxRuns));
    }

    /** Excludes these dates, in the zone of the schedule. Replaces previously excluded dates. */
    public When except(LocalDate... dates) {
        return except(List.of(dates));
    }

    /** Like {@link #except(LocalDate...)}, for a collection of dates. */
    public When except(Collection<LocalDate> dates) {
        return withBounds(new Bounds(bounds.from, bounds.until, Set.copyOf(dates), bounds.maxRuns));
    }

    /** Limits the number of runs. Missed and excluded instants without a run do not count. */
    public When maxRuns(long runs) {
        return withBounds(new Bounds(bounds.from, bounds.until, bounds.excluded, runs));
    }

    private When withBounds(Bounds bounds) {
        return new When(timing, dst, bounds, jitter);
    }

    /**
     * Delays the due times by an offset below this duration. The offset is derived from the id of the schedule, so that
     * it is stable. The planned instants do not change.
     */
    public When jitter(Duration jitter) {
        return new When(timing, dst, bounds, jitter);
    }

    /** Returns the first planned instant strictly after the given one; empty if there is none. */
    public Optional<Instant> next(Instant after) {
        return nextNotExcluded(clampToStart(after), end(), SearchBudget.unlimited())
                .filter(this::isWithinEnd);
    }

    /** Returns the first instant that is not excluded; any instant if it is after {@code until}. */
    private Optional<Instant> nextNotExcluded(Instant after, Instant until, SearchBudget budget) {
        Optional<Instant> at = nextUnbounded(after);
        while (at.isPresent() && !at.get().isAfter(until) && excludes(at.get())) {
            budget.takeStep();
            at = nextUnbounded(endOfExcluded(at.get()));
        }
        return at;
    }

    /** Returns the end of the excluded date of an instant, and of the excluded dates that follow it immediately. */
    private Instant endOfExcluded(Instant at) {
        Instant end = Dates.endOfDay(at, zone());
        LocalDate next = LocalDate.ofInstant(at, zone()).plusDays(1);
        if (!bounds.excluded.contains(next)) return end;
        while (bounds.excluded.contains(next)) next = next.plusDays(1);
        // Not the end of the last date: a change of the clock may repeat or skip parts of these dates.
        Instant lastDate = next.minusDays(1).atStartOfDay(zone()).toInstant().minusNanos(1);
        // If the clock goes back over midnight, the last date can begin before the given instant.
        return lastDate.isAfter(end) ? lastDate : end;
    }

    /** Like {@link #next}, but includes instants on excluded dates, which the ledger also records. */
    public Optional<Instant> nextIncludingExcluded(Instant after) {
        return nextUnbounded(clampToStart(after)).filter(this::isWithinEnd);
    }

    /** Returns whether this instant is on an excluded date. */
    public boolean excludes(Instant at) {
        return !bounds.excluded.isEmpty() && bounds.excluded.contains(LocalDate.ofInstant(at, zone()));
    }

    /** Returns the distance between consecutive instants; null if it is not constant. */
    public @Nullable Duration fixedPeriod() {
        return timing instanceof Timing.Every every && every.interval().isElapsed()
                ? every.interval()
                        .unit()
                        .getDuration()
                        .multipliedBy(every.interval().amount())
                : null;
    }

    /** Returns {@code after}, or the instant immediately before the start of the bounds if that is later. */
    private Instant clampToStart(Instant after) {
        Instant from = bounds.from;
        return from != null && after.isBefore(from) ? from.minusNanos(1) : after;
    }

    private boolean isWithinEnd(Instant at) {
        return !at.isAfter(end());
    }

    private Instant end() {
        Instant until = bounds.until;
        return until == null || until.isAfter(Years.LATEST) ? Years.LATEST : until;
    }

    private Optional<Instant> nextUnbounded(Instant after) {
        if (timing instanceof Timing.Cron cron) return cron.expression().next(after, cron.zone(), dst);
        if (timing instanceof Timing.Every every) return every.interval().next(after, dst);
        if (timing instanceof Timing.Once once) return Optional.of(once.at()).filter(at -> at.isAfter(after));
        if (timing instanceof Timing.Unreadable) return Optional.empty();
        throw new AssertionError("unknown timing " + timing.getClass().getSimpleName());
    }

    /** Returns the time zone of the schedule; UTC for a single instant. */
    public ZoneId zone() {
        if (timing instanceof Timing.Cron cron) return cron.zone();
        if (timing instanceof Timing.Every every)
            return every.interval().start().getZone();
        return ZoneOffset.UTC;
    }

    /**
     * Returns the next planned instants, and marks instants that a daylight saving transition moves, skips or repeats.
     */
    public Preview preview(Instant after, int count) {
        return preview(after, Years.LATEST, count, SearchBudget.unlimited());
    }

    /**
     * Like {@link #preview(Instant, int)}, but only up to an instant, inclusive, and with at most the work that the
     * budget allows.
     *
     * @throws CarillonException with {@link ErrorCode#SEARCH_TOO_LONG} if the budget is used up
     */
    public Preview preview(Instant after, Instant until, int count, SearchBudget budget) {
        if (count < 1 || count > Preview.MAX_COUNT)
            throw invalid(
                    "A count of %d is not allowed: it must be between 1 and %d.".formatted(count, Preview.MAX_COUNT));
        Long maxRuns = bounds.maxRuns;
        int wanted = maxRuns == null ? count : (int) Math.min(count, maxRuns);
        Instant end = isWithinEnd(until) ? until : end();
        PreviewBuilder.Range range = new PreviewBuilder.Range(clampToStart(after), end, wanted);
        budget.begin();
        try {
            return preview(range, budget);
        } finally {
            budget.end();
        }
    }

    private Preview preview(PreviewBuilder.Range range, SearchBudget budget) {
        if (timing instanceof Timing.Cron cron) {
            PreviewSource source = new PreviewSource.CronSource(cron.expression(), cron.zone(), dst);
            return new Preview(cron.expression().describe(), cron.zone(), entries(source, range, budget), warnings());
        }
        if (timing instanceof Timing.Every every) {
            PreviewSource source = new PreviewSource.IntervalSource(every.interval(), dst);
            return new Preview(every.interval().describe(), source.zone(), entries(source, range, budget));
        }
        List<Preview.Entry> entries = next(range.after())
                .filter(at -> !at.isAfter(range.until()))
                .map(at -> new Preview.Entry(
                        LocalDateTime.ofInstant(at, ZoneOffset.UTC), at.atOffset(ZoneOffset.UTC), Preview.Mark.NONE))
                .stream()
                .toList();
        return new Preview(describe(), ZoneOffset.UTC, entries);
    }

    private List<Preview.Entry> entries(PreviewSource source, PreviewBuilder.Range range, SearchBudget budget) {
        return new PreviewBuilder(source, range, budget)
                .entries(after -> nextNotExcluded(after, range.until(), budget)).stream()
                        .filter(entry -> !excludes(entry.utc()))
                        .toList();
    }

    /** Returns a short English description. */
    public String describe() {
        if (timing instanceof Timing.Cron cron) return cron.expression().describe() + " (" + cron.zone() + ")";
        if (timing instanceof Timing.Every every) return describe(every);
        if (timing instanceof Timing.Once once) return "once at " + once.at();
        if (timing instanceof Timing.Unreadable unreadable) return "cannot be read: " + unreadable.error();
        throw new AssertionError("unknown timing " + timing.getClass().getSimpleName());
    }

    /**
     * Returns warnings about notations that are valid but probably unintended, such as a cron step larger
     * than its field.
     */
    public List<String> warnings() {
        return timing instanceof Timing.Cron cron ? cron.expression().warnings() : List.of();
    }

    private static String describe(Timing.Every every) {
        AdaptiveInterval adaptiveInterval = every.adaptive();
        return adaptiveInterval == null
                ? every.interval().describe()
                : "every %d to %d seconds, by backlog"
                        .formatted(
                                adaptiveInterval.min().toSeconds(),
                                adaptiveInterval.max().toSeconds());
    }

    /**
     * Returns the time zone with an IANA name.
     *
     * @throws CarillonException with {@link ErrorCode#UNKNOWN_ZONE} if there is no such zone
     */
    public static ZoneId zone(String name) {
        try {
            return ZoneId.of(name);
        } catch (DateTimeException unknown) {
            throw new CarillonException(
                    ErrorCode.UNKNOWN_ZONE,
                    "No time zone is named '%s'. Use an IANA name such as Europe/Paris or UTC."
                            .formatted(TextCleaner.clean(name, 60)),
                    unknown);
        }
    }

    private static CarillonException invalid(String what) {
        return new CarillonException(ErrorCode.INVALID_OPTION, what);
    }
}
