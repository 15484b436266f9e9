package io.carillon.run;

import io.carillon.value.Text;
import java.io.PrintWriter;
import java.io.StringWriter;

/** Turns an error into bounded, clean text: the first line says what happened, the stack follows. Never throws, whatever the error's own methods do. */
public final class ErrorText {
    private ErrorText() {}

    /** The text stored with an attempt. */
    public static String of(Throwable error) {
        try {
            StringWriter text = new StringWriter();
            error.printStackTrace(new PrintWriter(text));
            return Text.clean(text.toString());
        } catch (RuntimeException | StackOverflowError broken) {
            return error.getClass().getName() + " (its message could not be read: "
                    + broken.getClass().getName() + ")";
        }
    }

    /** The first line of a stored error. */
    public static String firstLine(String error) {
        int end = error.indexOf('\n');
        return end < 0 ? error : error.substring(0, end).stripTrailing();
    }
}
