package io.carillon.cli;

import io.carillon.schedule.CronSyntaxException;

/** Shows an expression with a caret under the place where the trouble starts. */
final class CronPointer {
    /** What is shown of a long text on either side of the place. */
    private static final int AROUND = 30;

    private CronPointer() {}

    static String at(String text, CronSyntaxException problem) {
        int position = Math.min(problem.position(), text.length());
        int from = Math.max(0, position - AROUND);
        int to = Math.min(text.length(), position + AROUND);
        String before = from > 0 ? "..." : "";
        String after = to < text.length() ? "..." : "";
        return """
                This is no cron expression:
                  %s%s%s
                  %s^
                %s""".formatted(
                        before,
                        shown(text.substring(from, to)),
                        after,
                        " ".repeat(before.length() + position - from),
                        problem.getMessage());
    }

    /** One column for each character, so that the caret stands where it should. */
    private static String shown(String text) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\t') out.append(' ');
            else out.append(c >= ' ' && c <= '~' ? c : '?');
        }
        return out.toString();
    }
}
