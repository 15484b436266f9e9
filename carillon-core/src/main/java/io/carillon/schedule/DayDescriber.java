package io.carillon.schedule;

import static io.carillon.schedule.Words.list;

import java.util.ArrayList;
import java.util.List;

/** Says the day and month fields of an expression in English. */
final class DayDescriber {
    private static final String[] WEEKDAYS = {
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"
    };
    private static final String[] MONTHS = {
        "January", "February", "March", "April", "May", "June",
        "July", "August", "September", "October", "November", "December"
    };

    private DayDescriber() {}

    /** With a blank in front, or nothing where every day matches. */
    static String describe(CronFields fields) {
        boolean anyDay = fields.day().isFull();
        boolean anyWeekday = fields.weekday().isFull();
        if ((anyDay && anyWeekday) || (fields.eitherDay() && (anyDay || anyWeekday))) {
            return "";
        }
        if (anyDay) {
            return " on " + weekdays(fields.weekday(), "and");
        }
        if (anyWeekday) {
            return " on " + days(fields.day());
        }
        return fields.eitherDay()
                ? " on " + days(fields.day()) + " or on " + weekdays(fields.weekday(), "and")
                : " on " + days(fields.day()) + ", only if it is " + weekdays(fields.weekday(), "or");
    }

    static String months(CronField months) {
        return months.isFull() ? "" : " in " + Words.values(months.values(), month -> MONTHS[month - 1], "and");
    }

    private static String days(CronField field) {
        List<String> parts = new ArrayList<>();
        if (field.values() != 0) {
            parts.add(Words.counted("day", field.values()));
        }
        for (int before : list(field.last())) {
            String days = before == 1 ? "1 day" : before + " days";
            parts.add(before == 0 ? "the last day" : days + " before the last day");
        }
        for (int day : list(field.nearest() & ~CronField.LAST_WEEKDAY)) {
            parts.add("the weekday nearest day " + day);
        }
        if ((field.nearest() & CronField.LAST_WEEKDAY) != 0) {
            parts.add("the last weekday");
        }
        return Words.join(parts, "and") + " of the month";
    }

    private static String weekdays(CronField field, String conjunction) {
        List<String> parts = new ArrayList<>();
        if (field.values() != 0) {
            // Sunday closes the week in words, so that FRI-SUN stays one run.
            long mondayFirst = (field.values() & ~1L) | ((field.values() & 1) << 7);
            parts.add(Words.values(mondayFirst, day -> WEEKDAYS[day], conjunction));
        }
        for (int day : list(field.last())) {
            parts.add("the last " + WEEKDAYS[day] + " of the month");
        }
        for (int code : list(field.nth())) {
            parts.add("the " + Words.ordinal(code / 8) + " " + WEEKDAYS[code % 8] + " of the month");
        }
        return Words.join(parts, conjunction);
    }
}
