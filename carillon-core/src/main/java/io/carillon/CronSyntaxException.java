package io.carillon;

/** Thrown if a text is not a cron expression. The message names the problem, its position, and the allowed values. */
public final class CronSyntaxException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    /** No longer cron expression is accepted. */
    private static final int MAX_SHOWN = 256;

    private final int position;

    public CronSyntaxException(String text, int position, String problem, String advice) {
        super(problem + " at position " + position + " of \"" + printable(text) + "\". " + advice);
        this.position = position;
    }

    /**
     * Returns the index in the given text at which the problem starts, counted from 0; the length of the text if
     * something is missing at its end.
     */
    public int position() {
        return position;
    }

    /** Returns ASCII text of bounded length, because the message appears in logs and REST responses. */
    static String printable(String text) {
        StringBuilder out = new StringBuilder();
        int shown = Math.min(text.length(), MAX_SHOWN);
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
