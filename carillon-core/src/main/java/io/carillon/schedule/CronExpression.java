package io.carillon.schedule;

import static java.util.Objects.requireNonNull;

import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A cron expression: five fields (minute, hour, day, month, weekday), or six with seconds in front. Immutable; two
 * expressions are equal if they were written alike, because how a field is written decides what happens when clocks
 * change.
 */
public final class CronExpression {
    private final String text;
    private final CronFields fields;
    private final WallTimes times;

    private CronExpression(String text, CronFields fields) {
        this.text = text;
        this.fields = fields;
        this.times = new WallTimes(fields);
    }

    /** Reads an expression. One that can never fire is read as well: it has no next instant. */
    public static CronExpression parse(String text) {
        requireNonNull(text, "text");
        CronFields fields = CronParser.parse(text);
        return new CronExpression(text.strip(), fields);
    }

    /** The first planned instant strictly after the given one, under the default policy; empty: never. */
    public Optional<Instant> next(Instant after, ZoneId zone) {
        return next(after, zone, DstPolicy.defaults());
    }

    /**
     * The first planned instant strictly after the given one; empty: never. The policy speaks for fixed-time expressions
     * only: one with a star in front of its minute or hour (or second) follows the clock.
     */
    public Optional<Instant> next(Instant after, ZoneId zone, DstPolicy policy) {
        requireNonNull(policy, "policy");
        // Planned instants are whole seconds: the next whole second is after every fraction of this one.
        long from = after.getEpochSecond() + 1;
        long found = DstWalk.atOrAfter(from, times, zone.getRules(), effective(policy));
        return found == WallTimes.NONE ? Optional.empty() : Optional.of(Instant.ofEpochSecond(found));
    }

    /** How many planned instants lie from one of them to another instant, both inclusive; costs the months between them, not the instants. */
    long count(Instant first, Instant until, ZoneId zone, DstPolicy policy) {
        return DstWalk.count(first.getEpochSecond(), until.getEpochSecond(), times, zone.getRules(), effective(policy));
    }

    /** What it means, in short English; between a day of the month and a weekday it says "or" where either will do. */
    public String describe() {
        return CronDescriber.describe(fields, times.isEmpty());
    }

    /** What is read as it is written and probably not meant, such as a step beyond its field; mostly empty. */
    public List<String> warnings() {
        return fields.warnings();
    }

    /** The expression as it was written, without blanks around it. */
    @Override
    public String toString() {
        return text;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof CronExpression that && text.equals(that.text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    WallTimes times() {
        return times;
    }

    DstPolicy effective(DstPolicy policy) {
        return fields.followClock() ? DstPolicy.FOLLOW_THE_CLOCK : policy;
    }
}
