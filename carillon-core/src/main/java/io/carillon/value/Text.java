package io.carillon.value;

/** Cleans text that others wrote (error messages, log lines) before it enters a statement: one bad character must not fail a whole group. */
public final class Text {
    /** How much of a text of others is kept. */
    public static final int LIMIT = 8 * 1024;

    private Text() {}

    /** The text without NUL and unpaired surrogates (each becomes U+FFFD), cut at 8 Ki characters. */
    public static String clean(String text) {
        return clean(text, LIMIT);
    }

    /** The same with a limit of its own. */
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

    /** Whether the text holds neither NUL nor an unpaired surrogate. */
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
