package io.carillon.schedule;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.value.Text;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneOffsetTransition;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** When a schedule fires: its timing, what daylight saving does to it, its bounds and its jitter. Immutable; each method returns a changed copy. */
public record When(Timing timing, DstPolicy dst, Bounds bounds, Duration jitter) {
    private static final Duration LONGEST_JITTER = Duration.ofDays(1);
    private static final Instant EARLIEST = Instant.parse("0001-01-01T00:00:00Z");
    private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59Z");

    /** The three kinds of timing, and what is none of them to this process. */
    public sealed interface Timing {
        record Cron(CronExpression expression, ZoneId zone) implements Timing {}

        /** {@code adaptive}: the bounds within which the interval follows the backlog; null: it stays as it is. */
        record Every(Interval interval, @Nullable Adaptive adaptive) implements Timing {
            public Every(Interval interval) {
                this(interval, null);
            }
        }

        record Once(Instant at) implements Timing {}

        /**
         * A stored definition that this process cannot read, such as one of a newer version or of a time zone it does not know. It has no instants here. {@code
         * stored}: the words of the definition as they are stored; {@code error}: why they cannot be read.
         */
        record Unreadable(Map<String, String> stored, String error) implements Timing {
            public Unreadable {
                stored = Collections.unmodifiableMap(new LinkedHashMap<>(stored));
            }
        }
    }

    /** First and last instant that may fire, both inclusive, the dates on which none does, and how many runs there will be. */
    public record Bounds(
            @Nullable Instant from,
            @Nullable Instant until,
            Set<LocalDate> excluded,
            @Nullable Long maxRuns) {
        static final Bounds NONE = new Bounds(null, null, Set.of(), null);
        private static final int MOST_EXCLUDED = 1_000;

        public Bounds {
            excluded = Set.copyOf(excluded);
            if (excluded.size() > MOST_EXCLUDED)
                throw invalid("%d excluded dates are more than %d.".formatted(excluded.size(), MOST_EXCLUDED));
            for (LocalDate date : excluded)
                checkYear("excluded date", date.atStartOfDay(ZoneOffset.UTC).toInstant());
            if (maxRuns != null && maxRuns < 1) throw invalid("At most %d runs is none at all.".formatted(maxRuns));
            if (from != null) checkYear("start", from);
            if (until != null) checkYear("end", until);
            if (from != null && until != null && from.isAfter(until))
                throw invalid("The start %s lies after the end %s.".formatted(from, until));
        }
    }

    public When {
        if (jitter.isNegative() || jitter.compareTo(LONGEST_JITTER) > 0)
            throw invalid("The jitter %s is outside 0..1 day.".formatted(jitter));
    }

    /** By a cron expression in an IANA time zone. */
    public static When cron(String text, String zone) {
        return cron(text, zone(zone));
    }

    /** By a cron expression in a time zone. */
    public static When cron(String text, ZoneId zone) {
        try {
            return of(new Timing.Cron(CronExpression.parse(text), zone));
        } catch (CronSyntaxException wrong) {
            throw new CarillonException(ErrorCode.CRON_SYNTAX, String.valueOf(wrong.getMessage()), wrong);
        }
    }

    /** Every so often, counted from a start that fixes the grid for ever. */
    public static When every(long amount, ChronoUnit unit, ZonedDateTime start) {
        checkYear("start", start.toInstant());
        try {
            return of(new Timing.Every(Interval.every(amount, unit, start)));
        } catch (IllegalArgumentException wrong) {
            throw new CarillonException(ErrorCode.INVALID_OPTION, String.valueOf(wrong.getMessage()), wrong);
        }
    }

    /** Every so often on the grid of whole periods since 1970-01-01T00:00Z: the same grid whoever asks, and whenever. */
    public static When every(Duration period) {
        if (!period.equals(Duration.ofSeconds(period.toSeconds())) || period.isNegative() || period.isZero())
            throw invalid("The period %s is not a positive number of whole seconds.".formatted(period));
        return every(period.toSeconds(), ChronoUnit.SECONDS, Instant.EPOCH.atZone(ZoneOffset.UTC));
    }

    /** As often as the backlog of the schedule's lane asks for, between two bounds; it starts with the shorter. */
    public static When adaptive(Duration min, Duration max) {
        Adaptive adaptive = new Adaptive(min, max);
        return of(new Timing.Every(
                Interval.every(min.toSeconds(), ChronoUnit.SECONDS, Instant.EPOCH.atZone(ZoneOffset.UTC)), adaptive));
    }

    /** The bounds of an interval that follows the backlog; null: it does not. */
    public @Nullable Adaptive adaptive() {
        return timing instanceof Timing.Every every ? every.adaptive() : null;
    }

    /** The same promise with another interval, counted from an instant. */
    public When paced(Duration period, Instant from) {
        Interval interval = Interval.every(period.toSeconds(), ChronoUnit.SECONDS, from.atZone(ZoneOffset.UTC));
        return new When(new Timing.Every(interval, adaptive()), dst, bounds, jitter);
    }

    /** The same, at the pace of another one if both follow the backlog between the same bounds: the pace is no part of the promise. */
    When atPaceOf(When other) {
        Adaptive adaptive = adaptive();
        return adaptive != null && adaptive.equals(other.adaptive())
                ? new When(other.timing, dst, bounds, jitter)
                : this;
    }

    /** Once, at an instant. */
    public static When once(Instant at) {
        return of(new Timing.Once(at));
    }

    private static When of(Timing timing) {
        return new When(timing, DstPolicy.defaults(), Bounds.NONE, Duration.ZERO);
    }

    /** What becomes of wall times that the clocks skip or show twice. */
    public When dst(DstPolicy dst) {
        return new When(timing, dst, bounds, jitter);
    }

    /** Nothing before this instant. */
    public When from(Instant from) {
        return bounded(new Bounds(from, bounds.until, bounds.excluded, bounds.maxRuns));
    }

    /** Nothing after this instant; one exactly at it fires. */
    public When until(Instant until) {
        return bounded(new Bounds(bounds.from, until, bounds.excluded, bounds.maxRuns));
    }

    /** Nothing on these dates, as the calendar of the schedule's own zone has them; they replace dates named before. */
    public When except(LocalDate... dates) {
        return except(List.of(dates));
    }

    /** The same for a whole calendar of dates. */
    public When except(Collection<LocalDate> dates) {
        return bounded(new Bounds(bounds.from, bounds.until, Set.copyOf(dates), bounds.maxRuns));
    }

    /** No more runs than these; instants that were missed or excluded and got no run do not count. */
    public When maxRuns(long runs) {
        return bounded(new Bounds(bounds.from, bounds.until, bounds.excluded, runs));
    }

    private When bounded(Bounds bounds) {
        return new When(timing, dst, bounds, jitter);
    }

    /** Spreads the due time by an offset that is stable for each schedule; the planned instant stays as it is. */
    public When jitter(Duration jitter) {
        return new When(timing, dst, bounds, jitter);
    }

    /** The first instant strictly after the given one; empty: it never fires again. */
    public Optional<Instant> next(Instant after) {
        Optional<Instant> at = nextAny(after);
        while (at.isPresent() && excludes(at.get())) at = nextAny(lastOfDay(at.get()));
        return at;
    }

    /** The same with instants on excluded dates, which the ledger knows too. */
    public Optional<Instant> nextAny(Instant after) {
        return unbounded(floor(after)).filter(this::notOver);
    }

    /** Whether this instant lies on an excluded date. */
    public boolean excludes(Instant at) {
        return !bounds.excluded.isEmpty() && bounds.excluded.contains(LocalDate.ofInstant(at, zone()));
    }

    /** Not before the instant itself: where clocks go back over midnight, a date begins twice. */
    private Instant lastOfDay(Instant at) {
        LocalDate date = LocalDate.ofInstant(at, zone());
        Instant last = date.plusDays(1).atStartOfDay(zone()).toInstant().minusNanos(1);
        return last.isAfter(at) ? last : at;
    }

    /** An instant up to which all instants lie on the date of the given one, itself at least; not after {@code until}. */
    Instant sameDate(Instant at, Instant until) {
        Instant last = lastOfDay(at);
        ZoneOffsetTransition change = zone().getRules().nextTransition(at);
        // Where the clocks change on that date it may begin twice: one instant after the other.
        if (change != null && !change.getInstant().isAfter(last)) return at;
        return last.isBefore(until) ? last : until;
    }

    /** The distance of neighbours, where it is always the same; null elsewhere. */
    public @Nullable Duration step() {
        return timing instanceof Timing.Every every && every.interval().isElapsed()
                ? every.interval()
                        .unit()
                        .getDuration()
                        .multipliedBy(every.interval().amount())
                : null;
    }

    /** How many instants, excluded dates included, lie from one of them to another instant, both inclusive. */
    long count(Instant first, Instant until) {
        if (timing instanceof Timing.Cron cron) return cron.expression().count(first, ceiling(until), cron.zone(), dst);
        long number = 0;
        for (Optional<Instant> at = Optional.of(first);
                at.isPresent() && !at.get().isAfter(until);
                at = nextAny(at.get())) number++;
        return number;
    }

    /** The last instant at or before the given one, where {@code first} is one of them, found by halving the time between. */
    static Instant last(Function<Instant, Optional<Instant>> next, Instant first, Instant until) {
        long low = first.getEpochSecond() - 1;
        long high = until.getEpochSecond() + 1;
        while (high - low > 1) {
            long middle = low + (high - low) / 2;
            Optional<Instant> found = next.apply(Instant.ofEpochSecond(middle));
            if (found.isPresent() && !found.get().isAfter(until)) low = middle;
            else high = middle;
        }
        Instant last = first;
        Optional<Instant> at = next.apply(Instant.ofEpochSecond(low));
        while (at.isPresent() && !at.get().isAfter(until)) {
            last = at.get();
            at = next.apply(last);
        }
        return last;
    }

    /** The last instant that may lie at or before the given one. */
    Instant ceiling(Instant until) {
        Instant end = bounds.until != null && bounds.until.isBefore(until) ? bounds.until : until;
        return end.isAfter(LATEST) ? LATEST : end;
    }

    /** What comes after this comes after the given instant and not before the start. */
    private Instant floor(Instant after) {
        Instant from = bounds.from;
        return from != null && after.isBefore(from) ? from.minusNanos(1) : after;
    }

    private boolean notOver(Instant at) {
        return !at.isAfter(LATEST) && (bounds.until == null || !at.isAfter(bounds.until));
    }

    private Optional<Instant> unbounded(Instant after) {
        if (timing instanceof Timing.Cron cron) return cron.expression().next(after, cron.zone(), dst);
        if (timing instanceof Timing.Every every) return every.interval().next(after, dst);
        if (timing instanceof Timing.Once once) return Optional.of(once.at()).filter(at -> at.isAfter(after));
        if (timing instanceof Timing.Unreadable) return Optional.empty();
        throw new AssertionError("no rule for " + timing.getClass().getSimpleName());
    }

    /** The zone in which it is meant. */
    public ZoneId zone() {
        if (timing instanceof Timing.Cron cron) return cron.zone();
        if (timing instanceof Timing.Every every)
            return every.interval().start().getZone();
        return ZoneOffset.UTC;
    }

    /** The next instants, by the same {@link #next}, with marks where daylight saving moved, dropped or doubled one. */
    public Preview preview(Instant after, int count) {
        if (count < 1 || count > Preview.MAX_COUNT)
            throw invalid("A preview of %d runs is outside 1..%d.".formatted(count, Preview.MAX_COUNT));
        Long most = bounds.maxRuns;
        int wanted = most == null ? count : (int) Math.min(count, most);
        Instant from = floor(after);
        Preview page = unboundedPreview(from, wanted);
        List<Preview.Entry> entries = new ArrayList<>();
        // Each further page lies behind one more excluded date.
        while (true) {
            page.entries().stream()
                    .takeWhile(entry -> notOver(entry.utc()))
                    .filter(entry -> !excludes(entry.utc()))
                    .forEach(entries::add);
            int missing =
                    wanted - (int) entries.stream().filter(Preview.Entry::runs).count();
            if (missing == 0 || page.entries().isEmpty() || bounds.excluded.isEmpty()) break;
            Instant last = page.entries().get(page.entries().size() - 1).utc();
            if (!notOver(last)) break;
            from = excludes(last) ? lastOfDay(last) : last;
            page = unboundedPreview(from, missing);
        }
        return new Preview(page.description(), page.zone(), entries, warnings());
    }

    private Preview unboundedPreview(Instant after, int count) {
        if (timing instanceof Timing.Cron cron) return Preview.of(cron.expression(), cron.zone(), dst, after, count);
        if (timing instanceof Timing.Every every) return Preview.of(every.interval(), dst, after, count);
        List<Preview.Entry> entries = nextAny(after)
                .map(at -> new Preview.Entry(
                        LocalDateTime.ofInstant(at, ZoneOffset.UTC), at.atOffset(ZoneOffset.UTC), Preview.Mark.NONE))
                .stream()
                .toList();
        return new Preview(describe(), ZoneOffset.UTC, entries);
    }

    /** Short English. */
    public String describe() {
        if (timing instanceof Timing.Cron cron) return cron.expression().describe() + " (" + cron.zone() + ")";
        if (timing instanceof Timing.Every every) return describe(every);
        if (timing instanceof Timing.Once once) return "once at " + once.at();
        if (timing instanceof Timing.Unreadable unreadable) return "cannot be read: " + unreadable.error();
        throw new AssertionError("no words for " + timing.getClass().getSimpleName());
    }

    /** What is read as it is written and probably not meant, such as a step beyond its field; mostly empty. */
    public List<String> warnings() {
        return timing instanceof Timing.Cron cron ? cron.expression().warnings() : List.of();
    }

    private static String describe(Timing.Every every) {
        Adaptive adaptive = every.adaptive();
        return adaptive == null
                ? every.interval().describe()
                : "every %d to %d seconds, by backlog"
                        .formatted(adaptive.min().toSeconds(), adaptive.max().toSeconds());
    }

    /** Reads an IANA zone name, or says how they look. */
    public static ZoneId zone(String name) {
        try {
            return ZoneId.of(name);
        } catch (DateTimeException unknown) {
            throw new CarillonException(
                    ErrorCode.UNKNOWN_ZONE,
                    "There is no time zone '%s'. Use an IANA name such as Europe/Paris or UTC."
                            .formatted(Text.clean(name, 60)),
                    unknown);
        }
    }

    /** Years the database can keep and people write. */
    static void checkYear(String what, Instant at) {
        if (at.isBefore(EARLIEST) || at.isAfter(LATEST))
            throw invalid("The %s %s is outside the years 1..9999.".formatted(what, at));
    }

    private static CarillonException invalid(String what) {
        return new CarillonException(ErrorCode.INVALID_OPTION, what + " Choose values inside.");
    }
}
