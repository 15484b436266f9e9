package io.carillon.internal.run;

import io.carillon.internal.value.TextCleaner;
import java.io.PrintWriter;
import java.io.StringWriter;

/**
 * Converts an exception to bounded, clean text: the exception in the first line, then the stack trace. Never throws,
 * even if methods of the exception throw.
 */
public final class ErrorText {
    private static final int MAX_CAUSES = 8;
    private static final int MAX_FRAMES = 12;
    private static final int MAX_MESSAGE_LENGTH = 1_000;

    private ErrorText() {}

    /** Returns the text that is stored with an attempt. */
    public static String of(Throwable error) {
        try {
            StringWriter text = new StringWriter();
            error.printStackTrace(new PrintWriter(text));
            boolean fits = text.getBuffer().length() <= TextCleaner.MAX_LENGTH;
            return TextCleaner.clean(fits ? text.toString() : shortened(error));
        } catch (Throwable broken) {
            // The exception is user code and its methods may throw anything. A run whose error has no text
            // would never end.
            return error.getClass().getName() + " (its message could not be read: "
                    + broken.getClass().getName() + ")";
        }
    }

    /** Returns a short form that keeps the innermost cause, which a long outer stack trace would otherwise displace. */
    private static String shortened(Throwable error) {
        StringBuilder text = new StringBuilder();
        Throwable next = error;
        for (int depth = 0; next != null && depth < MAX_CAUSES; depth++, next = next.getCause()) {
            text.append(depth == 0 ? "" : "Caused by: ")
                    .append(TextCleaner.clean(String.valueOf(next), MAX_MESSAGE_LENGTH));
            StackTraceElement[] frames = next.getStackTrace();
            int shown = Math.min(frames.length, MAX_FRAMES);
            for (int i = 0; i < shown; i++) text.append("\n\tat ").append(frames[i]);
            text.append(shown < frames.length ? "\n\t... " + (frames.length - shown) + " more\n" : "\n");
        }
        return text.toString();
    }

    /** Returns the first line of a stored error. */
    public static String firstLine(String error) {
        int end = error.indexOf('\n');
        return end < 0 ? error : error.substring(0, end).stripTrailing();
    }
}
