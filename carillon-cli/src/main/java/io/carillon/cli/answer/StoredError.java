package io.carillon.cli.answer;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The text of an error as the engine stores it: an exception with its stack trace. People see the messages and their
 * own frames; the frames of Java and of libraries below them are counted.
 */
final class StoredError {
    private static final Pattern FRAME = Pattern.compile("\\s*at .*");
    private static final Pattern OMITTED = Pattern.compile("\\s*\\.\\.\\. \\d+ (more|common frames omitted)");
    /** The frames of Java and of code that calls handlers, which say nothing about the error. */
    private static final Pattern FOREIGN_FRAME =
            Pattern.compile("\\s*at (?:[\\w.@-]+/)*(?:java|javax|jakarta|jdk|sun|com\\.sun|kotlin"
                    + "|scala|org\\.springframework|org\\.junit|org\\.postgresql|com\\.zaxxer|tools\\.jackson"
                    + "|com\\.fasterxml)\\..*"
                    + "|\\s*at (?:[\\w.@-]+/)*io\\.carillon\\.(?:internal\\.|webhook\\.|[A-Z]).*");
    /** The maximum number of own frames of one exception. */
    private static final int MAX_FRAMES = 5;

    /** The package of an exception, and its class name with a colon, a line end or nothing behind it. */
    private static final Pattern EXCEPTION =
            Pattern.compile("((?:[a-z_][\\w$]*\\.)+)[A-Z][\\w$]*(?:Exception|Error|Throwable)(?=[:\\n]|$)");

    private StoredError() {}

    /** Returns the text without the package of the exception with which it begins, for a row of a table. */
    static String headline(String text) {
        Matcher exception = EXCEPTION.matcher(text);
        return exception.lookingAt() ? text.substring(exception.end(1)) : text;
    }

    /** Returns whether the text is an exception with its stack trace. */
    static boolean matches(String text) {
        return text.contains("\n\tat ");
    }

    /** Returns the messages and the own frames, and a line with the number of the other frames. */
    static List<String> brief(String text) {
        List<String> lines = new ArrayList<>();
        int hidden = 0;
        int frames = 0;
        for (String line : text.strip().split("\n", -1)) {
            if (OMITTED.matcher(line).matches()) continue;
            if (!FRAME.matcher(line).matches()) {
                frames = 0;
                lines.add(line.stripTrailing());
            } else if (FOREIGN_FRAME.matcher(line).matches() || ++frames > MAX_FRAMES) hidden++;
            else lines.add("    " + line.strip());
        }
        if (hidden > 0) lines.add("    ... %d more frames (--wide shows them)".formatted(hidden));
        return lines;
    }
}
