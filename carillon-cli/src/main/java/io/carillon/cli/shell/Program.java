package io.carillon.cli.shell;

/** The name under which the user started this program: {@code ./carillon} in a checkout. */
public final class Program {
    private static final String DEFAULT_NAME = "carillon";

    private Program() {}

    /** Returns the name; the script that starts Java passes it on. */
    public static String name() {
        return System.getProperty("carillon.command", DEFAULT_NAME);
    }

    /** Returns the text with this name in its commands, which stand in single quotes, so that they work as printed. */
    public static String inText(String text) {
        String name = name();
        return name.equals(DEFAULT_NAME) ? text : text.replace("'" + DEFAULT_NAME + " ", "'" + name + " ");
    }
}
