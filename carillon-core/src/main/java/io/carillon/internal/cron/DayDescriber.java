package io.carillon.internal.cron;

import static io.carillon.internal.cron.CronPhrases.setBits;

import java.util.ArrayList;
import java.util.List;

/** Describes the day and month fields of an expression in English. */
final class DayDescriber {
    private static final String[] WEEKDAYS = {
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"
    };
    private static final String[] MONTHS = {
        "January", "February", "March", "April", "May", "June",
        "July", "August", "September", "October", "November", "December"
    };

    private DayDescriber() {}

    /** Returns the days as text with a leading blank; empty if every day matches. */
    static String describe(CronFields fields) {
        boolean anyDay = fields.day().isFull();
        boolean anyWeekday = fields.weekday().isFull();
        if ((anyDay && anyWeekday) || (fields.matchesEitherDay() && (anyDay || anyWeekday))) {
            return "";
        }
        if (anyDay) {
            return " on " + weekdays(fields.weekday(), "and");
        }
        if (anyWeekday) {
            return " on " + days(fields.day());
        }
        return fields.matchesEitherDay()
                ? " on " + days(fields.day()) + " or on " + weekdays(fields.weekday(), "and")
                : " on " + days(fields.day()) + ", only if it is " + weekdays(fields.weekday(), "or");
    }

    static String months(CronField months) {
        return months.isFull()
                ? ""
                : " in " + CronPhrases.joinValues(months.values(), month -> MONTHS[month - 1], "and");
    }

    private static String days(CronField field) {
        List<String> parts = new ArrayList<>();
        if (field.values() != 0) {
            parts.add(CronPhrases.nounWithValues("day", field.values()));
        }
        for (int before : setBits(field.last())) {
            String days = before == 1 ? "1 day" : before + " days";
            parts.add(before == 0 ? "the last day" : days + " before the last day");
        }
        for (int day : setBits(field.nearest() & ~CronField.LAST_WEEKDAY)) {
            parts.add("the weekday nearest day " + day);
        }
        if ((field.nearest() & CronField.LAST_WEEKDAY) != 0) {
            parts.add("the last weekday");
        }
        return CronPhrases.join(parts, "and") + " of the month";
    }

    private static String weekdays(CronField field, String conjunction) {
        List<String> parts = new ArrayList<>();
        if (field.values() != 0) {
            // Sunday is last in the text, so that FRI-SUN stays one range.
            long mondayFirst = (field.values() & ~1L) | ((field.values() & 1) << 7);
            parts.add(CronPhrases.joinValues(mondayFirst, day -> WEEKDAYS[day], conjunction));
        }
        for (int day : setBits(field.last())) {
            parts.add("the last " + WEEKDAYS[day] + " of the month");
        }
        for (int code : setBits(field.nth())) {
            parts.add("the " + CronPhrases.ordinal(code / 8) + " " + WEEKDAYS[code % 8] + " of the month");
        }
        return CronPhrases.join(parts, conjunction);
    }
}
