package io.carillon.internal.cron;

import io.carillon.CronSyntaxException;
import java.util.ArrayList;
import java.util.List;

/**
 * Parses one field: a list of stars, values, ranges and steps, and in the day fields also {@code L}, {@code W} and
 * {@code #}.
 */
final class CronFieldParser {
    private static final int MAX_DIGITS = 4;

    private final String text;
    private final int start;
    private final int end;
    private final CronUnit unit;
    private int at;

    private long values;
    private long last;
    private long nearest;
    private long nth;
    private boolean hasNumber;
    private final List<String> warnings = new ArrayList<>();

    CronFieldParser(String text, int start, int end, CronUnit unit) {
        this.text = text;
        this.start = start;
        this.end = end;
        this.unit = unit;
        this.at = start;
    }

    CronField parse() {
        item();
        while (at < end) {
            expectComma();
            item();
        }
        if (unit == CronUnit.WEEKDAY && CronField.isSet(values, 7)) {
            values = (values & ~(1L << 7)) | 1;
        }
        return new CronField(unit, values, last, nearest, nth, isStar(text.charAt(start)));
    }

    /** Returns warnings about notations that are valid but probably unintended. */
    List<String> warnings() {
        return warnings;
    }

    /** Returns whether the field names a value by a number; the number of a step is none. */
    boolean hasNumber() {
        return hasNumber;
    }

    private void item() {
        if (at == end || peek() == ',') {
            throw syntaxError(at, "A value is missing", "Write a value before and after each comma.");
        }
        if (isStar(peek())) {
            boolean question = peek() == '?';
            at++;
            if (question && peek() == '/') {
                throw syntaxError(at, "\"?\" cannot have a step", "Write * with the step, or ? alone.");
            }
            add(unit.min(), unit.max(), step());
        } else if (unit == CronUnit.DAY && skip('L')) {
            parseLastDay();
        } else {
            valueOrRange();
        }
    }

    private void valueOrRange() {
        int from = at;
        boolean name = isLetter(peek());
        int low = value();
        if (unit == CronUnit.DAY && skip('W')) {
            nearest |= 1L << low;
        } else if (unit == CronUnit.WEEKDAY && skip('L')) {
            last |= 1L << (low % 7);
        } else if (unit == CronUnit.WEEKDAY && skip('#')) {
            nth |= 1L << (8 * ordinal() + low % 7);
        } else if (skip('-')) {
            add(low, rangeEnd(from, low, name), step());
        } else {
            boolean open = peek() == '/';
            add(low, open ? unit.max() : low, step());
        }
    }

    private int rangeEnd(int from, int low, boolean lowIsName) {
        boolean name = isLetter(peek());
        int high = value();
        // FRI-SUN ends with the week, although SUN alone is 0.
        if (unit == CronUnit.WEEKDAY && name && high == 0 && low > 0) {
            high = 7;
        }
        if (high < low) {
            throw syntaxError(from, "The range is reversed", reversedAdvice(low, high, lowIsName && name));
        }
        return high;
    }

    private String reversedAdvice(int low, int high, boolean names) {
        int top = unit == CronUnit.WEEKDAY ? 6 : unit.max();
        return "Write " + range(low, top, names) + "," + range(unit.min(), high, names) + ".";
    }

    private String range(int low, int high, boolean names) {
        String first = names ? unit.name(low) : Integer.toString(low);
        String last = names ? unit.name(high) : Integer.toString(high);
        return low == high ? first : first + "-" + last;
    }

    private void parseLastDay() {
        if (skip('W')) {
            nearest |= CronField.LAST_WEEKDAY;
        } else if (skip('-')) {
            int from = at;
            int days = number("a number of days after \"L-\"");
            if (days > 30) {
                throw syntaxError(from, "The number of days before the last day is too large", "Write L-1 to L-30.");
            }
            last |= 1L << days;
        } else {
            last |= 1;
        }
    }

    private int ordinal() {
        int from = at;
        int ordinal = number("the number of the weekday in the month after \"#\"");
        if (ordinal < 1 || ordinal > 5) {
            throw syntaxError(
                    from,
                    "The number of the weekday in the month is outside 1-5",
                    "Write #1 to #5, or L for the last (for example FRIL).");
        }
        return ordinal;
    }

    /** Parses the step after a slash; returns 1 if there is no slash. */
    private int step() {
        if (!skip('/')) {
            return 1;
        }
        int from = at;
        int step = number("a step after \"/\"");
        if (step == 0) {
            throw syntaxError(from, "A step of 0 is not allowed", "Write a step of 1 or more, or leave it out.");
        }
        return step;
    }

    private void add(int low, int high, int step) {
        if (step > 1 && step > high - low) {
            warnings.add("a step of " + step + " in " + unit.label() + "s runs " + unit.onceDescription());
        }
        for (int value = low; value <= high; value += step) {
            values |= 1L << value;
        }
    }

    private int value() {
        int from = at;
        if (isLetter(peek())) {
            return name();
        }
        hasNumber = true;
        int value = number("the " + unit.label());
        if (value < unit.min() || value > unit.max()) {
            String what = "The " + unit.label() + " is outside " + unit.min() + "-" + unit.max();
            throw syntaxError(from, what, "Write " + unit.range() + ".");
        }
        return value;
    }

    private int name() {
        int from = at;
        while (isLetter(peek())) {
            at++;
        }
        boolean lastOne = unit == CronUnit.WEEKDAY && at - from == 4 && isLetter(text.charAt(at - 1), 'L');
        int value = at - from == 3 || lastOne ? unit.valueOf(text, from) : -1;
        if (value < 0) {
            throw syntaxError(from, "Unknown word in the " + unit.label() + " field", wordAdvice());
        }
        at = from + 3;
        return value;
    }

    private String wordAdvice() {
        if (unit == CronUnit.DAY) {
            return "Write 1-31, L, L-3, LW or 15W.";
        }
        if (unit == CronUnit.WEEKDAY) {
            return "Write " + unit.range() + ", FRIL for the last Friday or MON#2 for the second Monday.";
        }
        return "Write " + unit.range() + ".";
    }

    private int number(String what) {
        int from = at;
        int value = 0;
        while (at < end && peek() >= '0' && peek() <= '9') {
            if (at - from == MAX_DIGITS) {
                throw syntaxError(
                        from, "The number has more than four digits", "Write " + unit.range() + ", or a smaller step.");
            }
            value = value * 10 + (peek() - '0');
            at++;
        }
        if (at == from) {
            String advice = unit.isDay() ? wordAdvice() : "Write " + unit.range() + ".";
            throw syntaxError(at, "Expected " + what, advice);
        }
        return value;
    }

    private void expectComma() {
        if (!skip(',')) {
            throw syntaxError(
                    at,
                    "Cannot read the rest of the " + unit.label() + " field",
                    "Separate values with commas and fields with blanks.");
        }
    }

    private boolean skip(char wanted) {
        boolean found = at < end && isLetter(peek(), wanted);
        if (found) {
            at++;
        }
        return found;
    }

    /** Returns the next character, or a blank at the end of the field. No rule accepts a blank. */
    private char peek() {
        return at < end ? text.charAt(at) : ' ';
    }

    private boolean isStar(char c) {
        return c == '*' || (c == '?' && unit.isDay());
    }

    private static boolean isLetter(char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    }

    /** Returns whether {@code c} is the wanted ASCII character; letters match in either case. */
    private static boolean isLetter(char c, char wanted) {
        return c == wanted || (isLetter(c) && (c & ~0x20) == wanted);
    }

    private CronSyntaxException syntaxError(int position, String problem, String advice) {
        return new CronSyntaxException(text, position, problem, advice);
    }
}
