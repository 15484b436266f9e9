package io.carillon.run;

import io.carillon.value.Text;
import java.io.PrintWriter;
import java.io.StringWriter;

/** Turns an error into bounded, clean text: the first line says what happened, the stack follows. Never throws, whatever the error's own methods do. */
public final class ErrorText {
    private static final int MOST_CAUSES = 8;
    private static final int MOST_FRAMES = 12;
    private static final int LONGEST_MESSAGE = 1_000;

    private ErrorText() {}

    /** The text stored with an attempt. */
    public static String of(Throwable error) {
        try {
            StringWriter text = new StringWriter();
            error.printStackTrace(new PrintWriter(text));
            boolean fits = text.getBuffer().length() <= Text.LIMIT;
            return Text.clean(fits ? text.toString() : shortened(error));
        } catch (Throwable broken) {
            // User code again: it may throw anything, and a run whose error cannot be told would never end.
            return error.getClass().getName() + " (its message could not be read: "
                    + broken.getClass().getName() + ")";
        }
    }

    /** The innermost cause is what people look for: it must not fall victim to the long stack of what wraps it. */
    private static String shortened(Throwable error) {
        StringBuilder text = new StringBuilder();
        Throwable next = error;
        for (int depth = 0; next != null && depth < MOST_CAUSES; depth++, next = next.getCause()) {
            text.append(depth == 0 ? "" : "Caused by: ").append(Text.clean(String.valueOf(next), LONGEST_MESSAGE));
            StackTraceElement[] frames = next.getStackTrace();
            int shown = Math.min(frames.length, MOST_FRAMES);
            for (int i = 0; i < shown; i++) text.append("\n\tat ").append(frames[i]);
            text.append(shown < frames.length ? "\n\t... " + (frames.length - shown) + " more\n" : "\n");
        }
        return text.toString();
    }

    /** The first line of a stored error. */
    public static String firstLine(String error) {
        int end = error.indexOf('\n');
        return end < 0 ? error : error.substring(0, end).stripTrailing();
    }
}
