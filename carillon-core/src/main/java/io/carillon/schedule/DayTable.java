package io.carillon.schedule;

import static io.carillon.schedule.CronField.isSet;

/**
 * The matching days of every kind of month. A month is known by its length and the weekday of its first day, so 28 bit
 * sets hold the whole calendar, and whether an expression can ever fire is a look at this table instead of a search.
 */
final class DayTable {
    private static final int SHORTEST = 28;
    private static final int[] LENGTHS = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    private final int[] days = new int[4 * 7];
    private final boolean empty;

    DayTable(CronFields fields) {
        for (int length = SHORTEST; length <= 31; length++) {
            for (int first = 0; first < 7; first++) {
                int byDay = daysOfMonth(fields.day(), length, first);
                int byWeekday = weekdays(fields.weekday(), length, first);
                days[index(length, first)] = fields.eitherDay() ? byDay | byWeekday : byDay & byWeekday;
            }
        }
        this.empty = isEmpty(fields.month());
    }

    /** Bit d is set where day d matches. First: the weekday of the month's first day, Sunday is 0. */
    int days(int length, int first) {
        return days[index(length, first)];
    }

    /** Whether no day of any year matches. */
    boolean isEmpty() {
        return empty;
    }

    private boolean isEmpty(CronField months) {
        for (int month = 1; month <= 12; month++) {
            if (months.has(month) && (matches(LENGTHS[month - 1]) || (month == 2 && matches(SHORTEST)))) {
                return false;
            }
        }
        return true;
    }

    /** Within 400 years each month of each length begins on every weekday, so one match of seven is a match. */
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

    /** Monday to Friday nearest to the day, without leaving the month. */
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
        return (length - SHORTEST) * 7 + first;
    }
}
