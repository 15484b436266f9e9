package io.carillon.internal.cron;

import java.util.List;

/** The six parsed fields of an expression, and warnings about notations that are valid but probably unintended. */
public record CronFields(
        CronField second,
        CronField minute,
        CronField hour,
        CronField day,
        CronField month,
        CronField weekday,
        List<String> warnings) {

    /**
     * Returns whether the expression follows the clock. As in the cron daemon, a time field that starts with a star
     * means "whenever the clock shows this time", and any other notation means "at this time of day". Only a time of
     * day can be skipped or repeated by a daylight saving transition.
     */
    public boolean followsClock() {
        return second.startsWithStar() || minute.startsWithStar() || hour.startsWithStar();
    }

    /**
     * Returns whether a day matches if either day field matches. This is the case if both fields restrict the days. A
     * field that starts with a star does not restrict, so then both fields must match.
     */
    boolean matchesEitherDay() {
        return !day.startsWithStar() && !weekday.startsWithStar();
    }
}
