package io.carillon.internal.value;

/**
 * Cleans text from outside, such as error messages and log lines, before it becomes part of a statement: one invalid
 * character must not fail a whole group.
 */
public final class TextCleaner {
    /** The number of characters that are kept. */
    public static final int MAX_LENGTH = 8 * 1024;

    private TextCleaner() {}

    /** Returns the text with U+FFFD for each NUL and unpaired surrogate, cut at 8,192 characters. */
    public static String clean(String text) {
        return clean(text, MAX_LENGTH);
    }

    /** Like {@link #clean(String)}, but cut at {@code limit} characters. */
    public static String clean(String text, int limit) {
        boolean tooLong = text.length() > limit;
        if (!tooLong && isClean(text)) return text;
        int end = tooLong ? limit - 1 : text.length();
        StringBuilder clean = new StringBuilder(end + 1);
        for (int i = 0; i < end; i++) {
            char c = text.charAt(i);
            if (Character.isHighSurrogate(c) && i + 1 < end && Character.isLowSurrogate(text.charAt(i + 1))) {
                clean.append(c).append(text.charAt(++i));
            } else {
                clean.append(c == 0 || Character.isSurrogate(c) ? '\uFFFD' : c);
            }
        }
        return tooLong ? clean.append('…').toString() : clean.toString();
    }

    /** Returns whether the text contains neither NUL nor an unpaired surrogate. */
    public static boolean isClean(String text) {
        boolean afterHigh = false;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == 0 || afterHigh != Character.isLowSurrogate(c)) return false;
            afterHigh = Character.isHighSurrogate(c);
        }
        return !afterHigh;
    }
}
