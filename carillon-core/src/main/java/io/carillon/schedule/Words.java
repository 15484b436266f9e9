package io.carillon.schedule;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/** Lists in English. Everything is put together by hand, because formatters ask the default locale for their digits. */
final class Words {
    /** From here on an even row is cut short: 0, 7, 14, ..., 56. */
    private static final int LONG_ROW = 6;

    private Words() {}

    /** "a", "a and b", "a, b and c". */
    static String join(List<String> parts, String conjunction) {
        int last = parts.size() - 1;
        return last < 1
                ? String.join("", parts)
                : String.join(", ", parts.subList(0, last)) + " " + conjunction + " " + parts.get(last);
    }

    /** The set bits in words: runs of three and more as "a to b", long even rows cut short. */
    static String values(long bits, IntFunction<String> name, String conjunction) {
        List<Integer> values = list(bits);
        int step = stepOf(values);
        if (values.size() >= LONG_ROW && step > 1) {
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

    /** "minute 5", "minutes 5 to 10". */
    static String counted(String noun, long bits) {
        return (Long.bitCount(bits) == 1 ? noun : noun + "s") + " " + values(bits, Integer::toString, "and");
    }

    static String ordinal(int number) {
        String[] endings = {"th", "st", "nd", "rd", "th", "th"};
        return number + endings[number];
    }

    static String twoDigits(int number) {
        return number < 10 ? "0" + number : Integer.toString(number);
    }

    static List<Integer> list(long bits) {
        List<Integer> values = new ArrayList<>();
        for (long rest = bits; rest != 0; rest &= rest - 1) {
            values.add(Long.numberOfTrailingZeros(rest));
        }
        return values;
    }

    /** The constant distance between the values, or 0. */
    static int stepOf(List<Integer> values) {
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
