package io.carillon.schedule;

import java.util.List;

/** What the parser hands on: the six fields of one expression, and what is probably not meant as it is written. */
record CronFields(
        CronField second,
        CronField minute,
        CronField hour,
        CronField day,
        CronField month,
        CronField weekday,
        List<String> warnings) {

    /**
     * The rule of the cron daemon: a star in front of a time field means "whenever the clock shows it", anything else
     * means "at this time of day", and only the latter can be lost or doubled when the clocks change.
     */
    boolean followClock() {
        return second.star() || minute.star() || hour.star();
    }

    /** With both day fields restricted either may match; a field with a star in front restricts nothing, so both must. */
    boolean eitherDay() {
        return !day.star() && !weekday.star();
    }
}
