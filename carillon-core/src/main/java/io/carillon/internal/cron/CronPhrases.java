package io.carillon.internal.cron;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/** Formats lists in English. Does not use java.util.Formatter, because its digits depend on the default locale. */
final class CronPhrases {
    /** Sequences with a constant step are abbreviated from this length on: 0, 7, 14, ..., 56. */
    private static final int MIN_ABBREVIATED_VALUES = 6;

    private CronPhrases() {}

    /** Returns "a", "a and b" or "a, b and c". */
    static String join(List<String> parts, String conjunction) {
        int last = parts.size() - 1;
        return last < 1
                ? String.join("", parts)
                : String.join(", ", parts.subList(0, last)) + " " + conjunction + " " + parts.get(last);
    }

    /**
     * Returns the set bits as text: three and more consecutive values as "a to b", long sequences with a
     * constant step abbreviated.
     */
    static String joinValues(long bits, IntFunction<String> name, String conjunction) {
        List<Integer> values = setBits(bits);
        int step = constantStep(values);
        if (values.size() >= MIN_ABBREVIATED_VALUES && step > 1) {
            String last = name.apply(values.get(values.size() - 1));
            return name.apply(values.get(0)) + ", " + name.apply(values.get(1)) + ", " + name.apply(values.get(2))
                    + ", ..., " + last;
        }
        List<String> parts = new ArrayList<>();
        int from = 0;
        while (from < values.size()) {
            int to = from;
            while (to + 1 < values.size() && values.get(to + 1) == values.get(to) + 1) {
                to++;
            }
            if (to < from + 2) {
                to = from;
                parts.add(name.apply(values.get(from)));
            } else {
                parts.add(name.apply(values.get(from)) + " to " + name.apply(values.get(to)));
            }
            from = to + 1;
        }
        return join(parts, conjunction);
    }

    /** Returns "minute 5" or "minutes 5 to 10". */
    static String nounWithValues(String noun, long bits) {
        return (Long.bitCount(bits) == 1 ? noun : noun + "s") + " " + joinValues(bits, Integer::toString, "and");
    }

    static String ordinal(int number) {
        String[] endings = {"th", "st", "nd", "rd", "th", "th"};
        return number + endings[number];
    }

    static String twoDigits(int number) {
        return number < 10 ? "0" + number : Integer.toString(number);
    }

    static List<Integer> setBits(long bits) {
        List<Integer> values = new ArrayList<>();
        for (long rest = bits; rest != 0; rest &= rest - 1) {
            values.add(Long.numberOfTrailingZeros(rest));
        }
        return values;
    }

    /** Returns the constant distance between the values; 0 if there is none. */
    static int constantStep(List<Integer> values) {
        if (values.size() < 2) {
            return 0;
        }
        int step = values.get(1) - values.get(0);
        for (int i = 2; i < values.size(); i++) {
            if (values.get(i) - values.get(i - 1) != step) {
                return 0;
            }
        }
        return step;
    }
}
