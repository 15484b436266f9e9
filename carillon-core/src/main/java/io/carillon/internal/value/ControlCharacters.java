package io.carillon.internal.value;

import org.jspecify.annotations.Nullable;

/**
 * Escapes characters that end a line, move a cursor or change the direction of text. Text of a caller in a log line
 * could otherwise forge a second line, and in a terminal could send commands to it.
 *
 * <p>Escaped are control characters (C0, DEL, C1), line and paragraph separators (U+2028, U+2029) and format characters
 * such as bidirectional controls. A backslash stays as it is: the result is for people to read, not to be parsed.
 */
public final class ControlCharacters {
    private ControlCharacters() {}

    /** Returns the text on one line, with an escape such as {@code \n} for each such character. */
    public static String escape(@Nullable Object text) {
        return escape(String.valueOf(text), false);
    }

    /** Like {@link #escape(Object)}, but keeps tabs and line ends, for text of several lines such as a stack trace. */
    public static String escapeLines(String text) {
        return escape(text, true);
    }

    private static String escape(String text, boolean keepLines) {
        int first = 0;
        while (first < text.length() && !isEscaped(text, first, keepLines)) first++;
        if (first == text.length()) return text;
        StringBuilder escaped = new StringBuilder(text.length() + 16).append(text, 0, first);
        for (int i = first; i < text.length(); i++) {
            if (isEscaped(text, i, keepLines)) appendEscape(escaped, text.charAt(i));
            else escaped.append(text.charAt(i));
        }
        return escaped.toString();
    }

    private static boolean isEscaped(String text, int i, boolean keepLines) {
        char c = text.charAt(i);
        if (c >= ' ' && c < 0x7f) return false;
        if (keepLines && (c == '\n' || c == '\t')) return false;
        if (keepLines && c == '\r' && i + 1 < text.length() && text.charAt(i + 1) == '\n') return false;
        // Both halves of a surrogate pair have the type of their code point.
        int point = Character.isLowSurrogate(c) && i > 0 && Character.isHighSurrogate(text.charAt(i - 1))
                ? text.codePointAt(i - 1)
                : text.codePointAt(i);
        return switch (Character.getType(point)) {
            case Character.CONTROL, Character.FORMAT, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> true;
            default -> false;
        };
    }

    private static void appendEscape(StringBuilder escaped, char c) {
        switch (c) {
            case '\n' -> escaped.append("\\n");
            case '\r' -> escaped.append("\\r");
            case '\t' -> escaped.append("\\t");
            default -> escaped.append("\\u").append(String.format("%04x", (int) c));
        }
    }
}
