package io.carillon.internal.cron;

import static io.carillon.internal.cron.CronPhrases.nounWithValues;
import static io.carillon.internal.cron.CronPhrases.setBits;
import static io.carillon.internal.cron.CronPhrases.twoDigits;

import java.util.ArrayList;
import java.util.List;

/** Describes an expression in English. This class describes the times of day, {@link DayDescriber} the days. */
public final class CronDescriber {
    /** Up to this number, the times of day are listed; beyond, they are described by their hours and minutes. */
    private static final int MAX_LISTED_TIMES = 6;

    private final CronField second;
    private final CronField minute;
    private final CronField hour;

    private CronDescriber(CronFields fields) {
        this.second = fields.second();
        this.minute = fields.minute();
        this.hour = fields.hour();
    }

    public static String describe(CronFields fields, boolean never) {
        String times = new CronDescriber(fields).times();
        String days = DayDescriber.describe(fields);
        boolean daily = times.startsWith("At ") && !times.endsWith("hour") && !times.endsWith("minute");
        String when = days.isEmpty() && daily ? " every day" : days;
        return times + when + DayDescriber.months(fields.month()) + (never ? " (never: there is no such date)" : "");
    }

    private String times() {
        if (Long.bitCount(second.values()) * Long.bitCount(minute.values()) * Long.bitCount(hour.values())
                <= MAX_LISTED_TIMES) {
            return "At " + CronPhrases.join(clockTimes(), "and");
        }
        return second.values() == 1 ? minutes() : seconds();
    }

    private List<String> clockTimes() {
        List<String> times = new ArrayList<>();
        for (int h : setBits(hour.values())) {
            for (int m : setBits(minute.values())) {
                for (int s : setBits(second.values())) {
                    String time = twoDigits(h) + ":" + twoDigits(m);
                    times.add(second.values() == 1 ? time : time + ":" + twoDigits(s));
                }
            }
        }
        return times;
    }

    private String minutes() {
        int every = evenStep(minute);
        if (every > 0) {
            return (every == 1 ? "Every minute" : "Every " + every + " minutes") + hours(" from ", ":00", ":59");
        }
        if (Long.bitCount(minute.values()) == 1) {
            int at = setBits(minute.values()).get(0);
            int hours = evenStep(hour);
            if (hours > 0) {
                String each = hours == 1 ? "Every hour" : "Every " + hours + " hours";
                return at == 0 ? each : each + " at minute " + at;
            }
            if (isConsecutive(hour)) {
                String past = ":" + twoDigits(at);
                return "Every hour" + hours(" from ", past, past);
            }
        }
        return "At " + nounWithValues("minute", minute.values()) + inHours();
    }

    private String seconds() {
        int every = evenStep(second);
        boolean always = minute.isFull() && hour.isFull();
        String seconds;
        if (every > 0) {
            seconds = every == 1 ? "Every second" : "Every " + every + " seconds";
        } else {
            seconds = "At " + nounWithValues("second", second.values()) + (minute.isFull() ? " of every minute" : "");
        }
        if (always) {
            return seconds;
        }
        if (minute.isFull()) {
            return seconds + hours(" from ", ":00", ":59");
        }
        return seconds + " in " + nounWithValues("minute", minute.values()) + inHours();
    }

    private String inHours() {
        return hour.isFull() ? " of every hour" : " of " + nounWithValues("hour", hour.values());
    }

    /** Returns the hours as text: empty for all hours, a span for consecutive hours, otherwise a list. */
    private String hours(String from, String firstMinute, String lastMinute) {
        if (hour.isFull()) {
            return "";
        }
        List<Integer> hours = setBits(hour.values());
        if (hours.size() == 1 || isConsecutive(hour)) {
            int last = hours.get(hours.size() - 1);
            return from + twoDigits(hours.get(0)) + firstMinute + " to " + twoDigits(last) + lastMinute;
        }
        return " in " + nounWithValues("hour", hour.values());
    }

    private static boolean isConsecutive(CronField field) {
        return CronPhrases.constantStep(setBits(field.values())) == 1;
    }

    /** Returns the constant step that starts at 0 and covers the whole unit; 0 if there is none. */
    private static int evenStep(CronField field) {
        List<Integer> values = setBits(field.values());
        int step = CronPhrases.constantStep(values);
        boolean even = step > 0
                && values.get(0) == 0
                && step * values.size() == field.unit().max() + 1;
        return even ? step : 0;
    }
}
