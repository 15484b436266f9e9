package io.carillon.schedule;

import static java.util.Objects.requireNonNull;

import io.carillon.CronSyntaxException;
import io.carillon.internal.cron.CronDescriber;
import io.carillon.internal.cron.CronFields;
import io.carillon.internal.cron.CronParser;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A cron expression with five fields (minute, hour, day, month, weekday), or six with a seconds field first. Immutable.
 * Two expressions are equal if their texts are equal, because the notation of a field decides how daylight saving
 * transitions are handled.
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

    /**
     * Parses an expression. An expression that no instant matches is valid and has no next instant.
     *
     * @throws CronSyntaxException if the text is not a cron expression
     */
    public static CronExpression parse(String text) {
        requireNonNull(text, "text");
        CronFields fields = CronParser.parse(text);
        return new CronExpression(text.strip(), fields);
    }

    /**
     * Returns the first planned instant strictly after the given one, with the default policy; empty if there is none.
     */
    public Optional<Instant> next(Instant after, ZoneId zone) {
        return next(after, zone, DstPolicy.defaults());
    }

    /**
     * Returns the first planned instant strictly after the given one; empty if there is none. The policy applies
     * only to expressions with a fixed time: an expression whose second, minute or hour field starts with a star
     * follows the clock.
     */
    public Optional<Instant> next(Instant after, ZoneId zone, DstPolicy policy) {
        requireNonNull(policy, "policy");
        // Planned instants are whole seconds, so the next whole second is later than every fraction of this one.
        long from = after.getEpochSecond() + 1;
        long found = WallTimeResolver.atOrAfter(from, times, zone.getRules(), effectivePolicy(policy));
        return found == WallTimes.NONE ? Optional.empty() : Optional.of(Instant.ofEpochSecond(found));
    }

    /**
     * Returns how many planned instants lie between {@code first}, which is one of them, and {@code until}, both
     * inclusive. The cost grows with the number of months, not with the number of instants.
     */
    public long count(Instant first, Instant until, ZoneId zone, DstPolicy policy) {
        return WallTimeResolver.count(
                first.getEpochSecond(), until.getEpochSecond(), times, zone.getRules(), effectivePolicy(policy));
    }

    /**
     * Returns a short English description. If the expression restricts both the day of the month and the weekday, the
     * description says whether either or both must match.
     */
    public String describe() {
        return CronDescriber.describe(fields, times.isEmpty());
    }

    /**
     * Returns warnings about notations that are valid but probably unintended, such as a step larger than its field.
     */
    public List<String> warnings() {
        return fields.warnings();
    }

    /** Returns the expression as it was written, without leading and trailing blanks. */
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

    DstPolicy effectivePolicy(DstPolicy policy) {
        return fields.followsClock() ? DstPolicy.FOLLOW_THE_CLOCK : policy;
    }
}
