package io.carillon.schedule;

import static io.carillon.internal.cron.CronField.isSet;

import io.carillon.internal.cron.CronFields;
import io.carillon.internal.cron.DayTable;
import java.time.LocalDate;
import java.time.YearMonth;

/**
 * The wall times that an expression matches, on a clock without transitions. Wall times are counted in seconds since
 * 1970-01-01T00:00 without an offset.
 */
final class WallTimes {
    /** No such time. Larger than every time, so that comparisons need no special case. */
    static final long NONE = Long.MAX_VALUE;

    static final long DAY = 86_400;

    /** The calendar repeats after 400 years: a time that is not found within them does not exist. */
    static final int CYCLE_YEARS = 400;

    static final long CYCLE = 146_097 * DAY;

    /** The years that java.time supports, minus one at either end, so that an offset can be added. */
    static final long EARLIEST = LocalDate.of(-999_999_998, 1, 1).toEpochDay() * DAY;

    static final long LATEST = LocalDate.of(999_999_998, 12, 31).toEpochDay() * DAY;

    private final long seconds;
    private final long minutes;
    private final long hours;
    private final long months;
    private final DayTable table;
    private final int firstTime;

    WallTimes(CronFields fields) {
        this.seconds = fields.second().values();
        this.minutes = fields.minute().values();
        this.hours = fields.hour().values();
        this.months = fields.month().values();
        this.table = new DayTable(fields);
        this.firstTime = time(lowest(hours), lowest(minutes), lowest(seconds));
    }

    boolean isEmpty() {
        return table.isEmpty();
    }

    /** Returns the first matching time at or after the given one; {@link #NONE} if there is none. */
    long atOrAfter(long from) {
        if (table.isEmpty() || from > LATEST) {
            return NONE;
        }
        long epochDay = Math.floorDiv(Math.max(from, EARLIEST), DAY);
        LocalDate date = LocalDate.ofEpochDay(epochDay);
        if (!isSet(months, date.getMonthValue())) {
            return firstAfterMonth(date.getYear(), date.getMonthValue());
        }
        int day = date.getDayOfMonth();
        long beforeMonth = epochDay - day;
        int days = table.days(date.lengthOfMonth(), weekday(beforeMonth + 1));
        if (isSet(days, day)) {
            int time = timeAtOrAfter((int) (Math.max(from, EARLIEST) - epochDay * DAY));
            if (time >= 0) {
                return epochDay * DAY + time;
            }
        }
        int later = days & (-2 << day);
        return later != 0
                ? (beforeMonth + lowest(later)) * DAY + firstTime
                : firstAfterMonth(date.getYear(), date.getMonthValue());
    }

    private long firstAfterMonth(int startYear, int startMonth) {
        int lastYear = startYear + CYCLE_YEARS;
        int year = startYear;
        int month = startMonth;
        while (true) {
            long later = months & (-2L << month);
            if (later == 0) {
                year++;
                later = months;
            }
            if (year > lastYear) {
                return NONE;
            }
            month = lowest(later);
            long firstDay = LocalDate.of(year, month, 1).toEpochDay();
            int days = table.days(YearMonth.of(year, month).lengthOfMonth(), weekday(firstDay));
            if (days != 0) {
                long found = (firstDay - 1 + lowest(days)) * DAY + firstTime;
                return found > LATEST ? NONE : found;
            }
        }
    }

    /** Returns the first matching second of the day at or after the given one; -1 if there is none. */
    private int timeAtOrAfter(int from) {
        int hour = from / 3600;
        int minute = from / 60 % 60;
        if (isSet(hours, hour)) {
            if (isSet(minutes, minute)) {
                long second = seconds & (-1L << (from % 60));
                if (second != 0) {
                    return time(hour, minute, lowest(second));
                }
            }
            long later = minutes & (-2L << minute);
            if (later != 0) {
                return time(hour, lowest(later), lowest(seconds));
            }
        }
        long later = hours & (-2L << hour);
        return later != 0 ? time(lowest(later), lowest(minutes), lowest(seconds)) : -1;
    }

    /** Returns how many matching times lie between two times, the first inclusive, the second exclusive. */
    long count(long from, long to) {
        if (table.isEmpty() || to <= from) {
            return 0;
        }
        long first = Math.floorDiv(from, DAY);
        long last = Math.floorDiv(to, DAY);
        long timesOfDay = (long) Long.bitCount(hours) * Long.bitCount(minutes) * Long.bitCount(seconds);
        return matchingDays(first, last) * timesOfDay
                + matchingDays(last, last + 1) * timesBefore((int) (to - last * DAY))
                - matchingDays(first, first + 1) * timesBefore((int) (from - first * DAY));
    }

    /** Counts the matching days between two days, the first inclusive, the second exclusive, month by month. */
    private long matchingDays(long from, long to) {
        long found = 0;
        long day = from;
        while (day < to) {
            LocalDate date = LocalDate.ofEpochDay(day);
            long beforeMonth = day - date.getDayOfMonth();
            long next = beforeMonth + date.lengthOfMonth() + 1;
            if (isSet(months, date.getMonthValue())) {
                int days = table.days(date.lengthOfMonth(), weekday(beforeMonth + 1));
                int fromHere = days & (-1 << date.getDayOfMonth());
                found += Integer.bitCount(to < next ? fromHere & ((1 << (int) (to - beforeMonth)) - 1) : fromHere);
            }
            day = next;
        }
        return found;
    }

    /** Returns how many matching seconds of the day are before the given one. */
    private long timesBefore(int time) {
        int hour = time / 3600;
        int minute = time / 60 % 60;
        long perMinute = Long.bitCount(seconds);
        long perHour = Long.bitCount(minutes) * perMinute;
        long found = Long.bitCount(below(hours, hour)) * perHour;
        if (isSet(hours, hour)) {
            found += Long.bitCount(below(minutes, minute)) * perMinute;
            if (isSet(minutes, minute)) {
                found += Long.bitCount(below(seconds, time % 60));
            }
        }
        return found;
    }

    private static long below(long bits, int bit) {
        return bits & ((1L << bit) - 1);
    }

    private static int time(int hour, int minute, int second) {
        return hour * 3600 + minute * 60 + second;
    }

    private static int weekday(long epochDay) {
        // 1970-01-01 was a Thursday; Sunday is 0.
        return (int) Math.floorMod(epochDay + 4, 7L);
    }

    private static int lowest(long bits) {
        return Long.numberOfTrailingZeros(bits);
    }
}
