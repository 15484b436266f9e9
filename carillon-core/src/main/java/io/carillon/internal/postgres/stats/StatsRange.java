package io.carillon.internal.postgres.stats;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.Stats.RunStats;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The range of a query, rounded to its steps.
 *
 * @param step the length of a point; null if none was asked for
 * @param hourly whether the figures per hour suffice; otherwise those per minute are read
 */
record StatsRange(
        Instant from, Instant to, Instant now, @Nullable Duration step, boolean hourly) {
    /** The longest range that is read by the minute. */
    static final Duration MAX_BY_MINUTE = Duration.ofHours(6);

    private static final int MAX_POINTS = 1_500;
    private static final int MAX_POINTS_OF_GROUPS = 10_000;
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Duration HOUR = Duration.ofHours(1);

    static StatsRange of(RunStats.Query query, Instant now) {
        // The minute that begins now belongs to the range too.
        Instant to = query.to().orElse(now.plusNanos(1));
        Instant from = query.fromBefore(to);
        if (!from.isBefore(to)) throw invalid("from must be before to (from was %s, to was %s)".formatted(from, to));
        Duration step = query.step();
        boolean hourly = Duration.between(from, to).compareTo(MAX_BY_MINUTE) > 0;
        Duration unit = step != null ? step : hourly ? HOUR : MINUTE;
        if (hourly && unit.toMinutes() % HOUR.toMinutes() != 0)
            throw invalid("step must be a multiple of 1 hour for a range of more than %d hours (was %s)"
                    .formatted(MAX_BY_MINUTE.toHours(), unit));
        StatsRange range = new StatsRange(floor(from, unit), ceiling(to, unit), now, step, hourly);
        if (step != null) range.requireFewPoints(query);
        return range;
    }

    private void requireFewPoints(RunStats.Query query) {
        long points = points();
        int groups = query.by() == null ? 1 : query.limit();
        if (points > MAX_POINTS || points * groups > MAX_POINTS_OF_GROUPS)
            throw invalid("step must be longer: a range may have %d points, and %d of all groups (was %d of %d groups)"
                    .formatted(MAX_POINTS, MAX_POINTS_OF_GROUPS, points, groups));
    }

    private static CarillonException invalid(String what) {
        return new CarillonException(ErrorCode.INVALID_OPTION, what + ".");
    }

    /** Returns the number of points. */
    long points() {
        return step == null ? 0 : Duration.between(from, to).dividedBy(step);
    }

    Instant at(long point) {
        return step == null ? from : from.plus(step.multipliedBy(point));
    }

    Duration elapsed() {
        return elapsed(from, to);
    }

    Duration elapsed(long point) {
        return elapsed(at(point), at(point + 1));
    }

    /** Returns the length of the part that has passed. */
    private Duration elapsed(Instant begin, Instant end) {
        Instant passed = end.isAfter(now) ? now : end;
        return begin.isBefore(passed) ? Duration.between(begin, passed) : Duration.ZERO;
    }

    private static Instant floor(Instant instant, Duration unit) {
        long seconds = unit.toSeconds();
        return Instant.ofEpochSecond(Math.floorDiv(instant.getEpochSecond(), seconds) * seconds);
    }

    private static Instant ceiling(Instant instant, Duration unit) {
        Instant floor = floor(instant, unit);
        return floor.equals(instant) ? floor : floor.plus(unit);
    }
}
