package io.carillon.schedule;

import static io.carillon.schedule.Words.counted;
import static io.carillon.schedule.Words.list;
import static io.carillon.schedule.Words.twoDigits;

import java.util.ArrayList;
import java.util.List;

/** Says an expression in English: the times of day here, the days in {@link DayDescriber}. */
final class CronDescriber {
    /** More times of day than this are told by their hours and minutes. */
    private static final int FEW_TIMES = 6;

    private final CronField second;
    private final CronField minute;
    private final CronField hour;

    private CronDescriber(CronFields fields) {
        this.second = fields.second();
        this.minute = fields.minute();
        this.hour = fields.hour();
    }

    static String describe(CronFields fields, boolean never) {
        String times = new CronDescriber(fields).times();
        String days = DayDescriber.describe(fields);
        boolean daily = times.startsWith("At ") && !times.endsWith("hour") && !times.endsWith("minute");
        String when = days.isEmpty() && daily ? " every day" : days;
        return times + when + DayDescriber.months(fields.month()) + (never ? " (never: there is no such date)" : "");
    }

    private String times() {
        if (Long.bitCount(second.values()) * Long.bitCount(minute.values()) * Long.bitCount(hour.values())
                <= FEW_TIMES) {
            return "At " + Words.join(clockTimes(), "and");
        }
        return second.values() == 1 ? minutes() : seconds();
    }

    private List<String> clockTimes() {
        List<String> times = new ArrayList<>();
        for (int h : list(hour.values())) {
            for (int m : list(minute.values())) {
                for (int s : list(second.values())) {
                    String time = twoDigits(h) + ":" + twoDigits(m);
                    times.add(second.values() == 1 ? time : time + ":" + twoDigits(s));
                }
            }
        }
        return times;
    }

    private String minutes() {
        int every = every(minute);
        if (every > 0) {
            return (every == 1 ? "Every minute" : "Every " + every + " minutes") + hours(" from ", ":00", ":59");
        }
        if (Long.bitCount(minute.values()) == 1) {
            int at = list(minute.values()).get(0);
            int hours = every(hour);
            if (hours > 0) {
                String each = hours == 1 ? "Every hour" : "Every " + hours + " hours";
                return at == 0 ? each : each + " at minute " + at;
            }
            if (isRun(hour)) {
                String past = ":" + twoDigits(at);
                return "Every hour" + hours(" from ", past, past);
            }
        }
        return "At " + counted("minute", minute.values()) + inHours();
    }

    private String seconds() {
        int every = every(second);
        boolean always = minute.isFull() && hour.isFull();
        String seconds;
        if (every > 0) {
            seconds = every == 1 ? "Every second" : "Every " + every + " seconds";
        } else {
            seconds = "At " + counted("second", second.values()) + (minute.isFull() ? " of every minute" : "");
        }
        if (always) {
            return seconds;
        }
        if (minute.isFull()) {
            return seconds + hours(" from ", ":00", ":59");
        }
        return seconds + " in " + counted("minute", minute.values()) + inHours();
    }

    private String inHours() {
        return hour.isFull() ? " of every hour" : " of " + counted("hour", hour.values());
    }

    /** Which hours something goes on in: nothing for all, a span for a run, else a list. */
    private String hours(String from, String firstMinute, String lastMinute) {
        if (hour.isFull()) {
            return "";
        }
        List<Integer> hours = list(hour.values());
        if (hours.size() == 1 || isRun(hour)) {
            int last = hours.get(hours.size() - 1);
            return from + twoDigits(hours.get(0)) + firstMinute + " to " + twoDigits(last) + lastMinute;
        }
        return " in " + counted("hour", hour.values());
    }

    private static boolean isRun(CronField field) {
        return Words.stepOf(list(field.values())) == 1;
    }

    /** The even step from 0 through the whole unit, or 0 if the values keep no even step. */
    private static int every(CronField field) {
        List<Integer> values = list(field.values());
        int step = Words.stepOf(values);
        boolean even = step > 0
                && values.get(0) == 0
                && step * values.size() == field.unit().max() + 1;
        return even ? step : 0;
    }
}
