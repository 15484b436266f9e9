package io.carillon.cli;

import io.carillon.CronSyntaxException;

/** Shows a cron expression with a caret under the position of the syntax error. */
final class CronErrorPointer {
    /** The number of characters shown on each side of the error in a long expression. */
    private static final int CONTEXT_LENGTH = 30;

    private CronErrorPointer() {}

    static String at(String text, CronSyntaxException problem) {
        int position = Math.min(problem.position(), text.length());
        int from = Math.max(0, position - CONTEXT_LENGTH);
        int to = Math.min(text.length(), position + CONTEXT_LENGTH);
        String before = from > 0 ? "..." : "";
        String after = to < text.length() ? "..." : "";
        return """
                Invalid cron expression:
                  %s%s%s
                  %s^
                %s""".formatted(
                        before,
                        printable(text.substring(from, to)),
                        after,
                        " ".repeat(before.length() + position - from),
                        problem.getMessage());
    }

    /** Shows each character as exactly one column, so that the caret points to the error. */
    private static String printable(String text) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\t') out.append(' ');
            else out.append(c >= ' ' && c <= '~' ? c : '?');
        }
        return out.toString();
    }
}
