package io.carillon.internal.cron;

import io.carillon.CronSyntaxException;
import java.util.ArrayList;
import java.util.List;

/** Splits an expression into its fields. Reads every character a bounded number of times. */
public final class CronParser {
    public static final int MAX_LENGTH = 256;

    private static final CronUnit[] UNITS = CronUnit.values();
    private static final String NICKNAMES = "@yearly, @annually, @monthly, @weekly, @daily, @midnight or @hourly";

    /** Expressions with a question mark usually come from Quartz. */
    private static final String QUARTZ_WEEKDAYS =
            "the weekdays %s mean other days in Quartz: Sunday is 0 here and 1 there; write names such as MON-FRI";

    private final String text;

    private CronParser(String text) {
        this.text = text;
    }

    public static CronFields parse(String text) {
        if (text.length() > MAX_LENGTH) {
            throw new CronSyntaxException(
                    text,
                    MAX_LENGTH,
                    "The cron expression is too long (" + text.length() + " characters)",
                    "Write at most " + MAX_LENGTH + " characters, or split it into several schedules.");
        }
        return new CronParser(text).parse();
    }

    private CronFields parse() {
        List<int[]> words = words();
        if (words.isEmpty()) {
            throw syntaxError(
                    text.length(), "The expression is empty", "Write five fields, for example \"0 2 * * *\".");
        }
        int start = words.get(0)[0];
        if (text.charAt(start) == '@') {
            return nickname(words);
        }
        if (words.size() < 5) {
            throw syntaxError(
                    text.length(),
                    "Only " + words.size() + (words.size() == 1 ? " field" : " fields"),
                    "Write minute, hour, day, month and weekday, for example \"0 2 * * *\"; a seconds field may come"
                            + " first.");
        }
        if (words.size() > 6) {
            throw syntaxError(
                    words.get(6)[0],
                    "Too many fields (" + words.size() + ")",
                    "Write five fields, or six with seconds first; there is no year field.");
        }
        return fields(words);
    }

    private CronFields fields(List<int[]> words) {
        int missing = UNITS.length - words.size();
        CronField[] fields = new CronField[UNITS.length];
        fields[0] = CronField.of(CronUnit.SECOND, 1);
        List<String> warnings = new ArrayList<>();
        boolean question = false;
        for (int i = 0; i < words.size(); i++) {
            int[] word = words.get(i);
            CronFieldParser field = new CronFieldParser(text, word[0], word[1], UNITS[i + missing]);
            fields[i + missing] = field.parse();
            warnings.addAll(field.warnings());
            if (UNITS[i + missing] == CronUnit.DAY) question = text.charAt(word[0]) == '?';
            if (UNITS[i + missing] == CronUnit.WEEKDAY && question && field.hasNumber())
                warnings.add(QUARTZ_WEEKDAYS.formatted(text.substring(word[0], word[1])));
        }
        return new CronFields(fields[0], fields[1], fields[2], fields[3], fields[4], fields[5], List.copyOf(warnings));
    }

    private CronFields nickname(List<int[]> words) {
        if (words.size() > 1) {
            throw syntaxError(
                    words.get(1)[0], "Unexpected text after the nickname", "Write the nickname alone, or five fields.");
        }
        int start = words.get(0)[0];
        String expansion = expansion(text.substring(start, words.get(0)[1]));
        if (expansion.isEmpty()) {
            throw syntaxError(start, "Unknown nickname", "Write " + NICKNAMES + ", or five fields.");
        }
        return new CronParser(expansion).parse();
    }

    private static String expansion(String nickname) {
        return switch (lowerAscii(nickname)) {
            case "@yearly", "@annually" -> "0 0 1 1 *";
            case "@monthly" -> "0 0 1 * *";
            case "@weekly" -> "0 0 * * 0";
            case "@daily", "@midnight" -> "0 0 * * *";
            case "@hourly" -> "0 * * * *";
            default -> "";
        };
    }

    /**
     * Converts only ASCII letters. String.toLowerCase would also convert other characters, such as the Kelvin sign, to
     * ASCII letters.
     */
    private static String lowerAscii(String word) {
        StringBuilder lower = new StringBuilder(word.length());
        for (int i = 0; i < word.length(); i++) {
            char c = word.charAt(i);
            lower.append(c >= 'A' && c <= 'Z' ? (char) (c | 0x20) : c);
        }
        return lower.toString();
    }

    /** Returns the start and end of each sequence of characters between blanks and tabs. */
    private List<int[]> words() {
        List<int[]> words = new ArrayList<>();
        int at = 0;
        while (at < text.length()) {
            int start = at;
            while (at < text.length() && !isBlank(text.charAt(at))) {
                at++;
            }
            if (at > start) {
                words.add(new int[] {start, at});
            } else {
                at++;
            }
        }
        return words;
    }

    private static boolean isBlank(char c) {
        return c == ' ' || c == '\t';
    }

    private CronSyntaxException syntaxError(int position, String problem, String advice) {
        return new CronSyntaxException(text, position, problem, advice);
    }
}
