package io.carillon.internal.cron;

import static io.carillon.internal.cron.CronField.isSet;

/**
 * The matching days of every kind of month. A month is defined by its length and the weekday of its first day, so 28
 * bit sets cover the whole calendar. Whether an expression matches any day is a lookup in this table instead of a
 * search.
 */
public final class DayTable {
    private static final int MIN_LENGTH = 28;
    private static final int[] LENGTHS = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    private final int[] days = new int[4 * 7];
    private final boolean empty;

    public DayTable(CronFields fields) {
        for (int length = MIN_LENGTH; length <= 31; length++) {
            for (int first = 0; first < 7; first++) {
                int byDay = daysOfMonth(fields.day(), length, first);
                int byWeekday = weekdays(fields.weekday(), length, first);
                days[index(length, first)] = fields.matchesEitherDay() ? byDay | byWeekday : byDay & byWeekday;
            }
        }
        this.empty = isEmpty(fields.month());
    }

    /**
     * Returns a bit set in which bit d is set if day d matches.
     *
     * @param first the weekday of the first day of the month; Sunday is 0
     */
    public int days(int length, int first) {
        return days[index(length, first)];
    }

    /** Returns whether no day of any year matches. */
    public boolean isEmpty() {
        return empty;
    }

    private boolean isEmpty(CronField months) {
        for (int month = 1; month <= 12; month++) {
            if (months.has(month) && (matches(LENGTHS[month - 1]) || (month == 2 && matches(MIN_LENGTH)))) {
                return false;
            }
        }
        return true;
    }

    /**
     * Within 400 years every month of every length starts on every weekday, so a match for any weekday is sufficient.
     */
    private boolean matches(int length) {
        for (int first = 0; first < 7; first++) {
            if (days(length, first) != 0) {
                return true;
            }
        }
        return false;
    }

    private static int daysOfMonth(CronField field, int length, int first) {
        int found = (int) field.values() & all(length);
        if ((field.last() | field.nearest()) == 0) {
            return found;
        }
        for (int day = 1; day <= length; day++) {
            if (isSet(field.last(), length - day)) {
                found |= 1 << day;
            }
            if (isSet(field.nearest(), day)) {
                found |= 1 << nearestWeekday(day, length, first);
            }
        }
        return (field.nearest() & CronField.LAST_WEEKDAY) != 0
                ? found | 1 << nearestWeekday(length, length, first)
                : found;
    }

    /** Returns the day from Monday to Friday that is nearest to the given day within the same month. */
    private static int nearestWeekday(int day, int length, int first) {
        int weekday = weekday(day, first);
        if (weekday == 6) {
            return day > 1 ? day - 1 : day + 2;
        }
        if (weekday == 0) {
            return day < length ? day + 1 : day - 2;
        }
        return day;
    }

    private static int weekdays(CronField field, int length, int first) {
        if (field.isFull()) {
            return all(length);
        }
        int found = 0;
        for (int day = 1; day <= length; day++) {
            int weekday = weekday(day, first);
            int ordinal = (day + 6) / 7;
            boolean lastOne = day + 7 > length;
            if (field.has(weekday)
                    || isSet(field.nth(), 8 * ordinal + weekday)
                    || (lastOne && isSet(field.last(), weekday))) {
                found |= 1 << day;
            }
        }
        return found;
    }

    private static int all(int length) {
        return -2 & (-1 >>> (31 - length));
    }

    private static int weekday(int day, int first) {
        return (first + day - 1) % 7;
    }

    private static int index(int length, int first) {
        return (length - MIN_LENGTH) * 7 + first;
    }
}
