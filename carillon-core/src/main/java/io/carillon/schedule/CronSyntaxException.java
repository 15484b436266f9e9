package io.carillon.schedule;

/**
 * A cron expression that cannot be read. The message says what is wrong, where, and what to write instead; {@link
 * #position()} points into the text as it was given.
 */
public final class CronSyntaxException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    private final int position;

    CronSyntaxException(String text, int position, String problem, String advice) {
        super(problem + " at position " + position + " of \"" + printable(text) + "\". " + advice);
        this.position = position;
    }

    /** Where the trouble starts: an index into the given text, counted from 0; its length where something is missing. */
    public int position() {
        return position;
    }

    /** ASCII only and of bounded length, because the message travels into logs and answers. */
    static String printable(String text) {
        StringBuilder out = new StringBuilder();
        int shown = Math.min(text.length(), CronParser.MAX_LENGTH);
        for (int i = 0; i < shown; i++) {
            char c = text.charAt(i);
            if (c >= ' ' && c <= '~') {
                out.append(c);
            } else {
                String hex = Integer.toHexString(c);
                out.append("\\u").append("0".repeat(4 - hex.length())).append(hex);
            }
        }
        return shown < text.length() ? out.append("...").toString() : out.toString();
    }
}
