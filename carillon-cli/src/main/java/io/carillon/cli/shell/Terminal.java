package io.carillon.cli.shell;

import java.io.Console;

/** Says whether a user types in a terminal: standard input and output are not files or pipes. */
public final class Terminal {
    private Terminal() {}

    /**
     * Returns whether the process has a terminal. Before Java 22, only a terminal has a console; since then,
     * {@code Console.isTerminal} distinguishes them, which Java 17 cannot name.
     */
    @SuppressWarnings("SystemConsoleNull")
    public static boolean isPresent() {
        Console console = System.console();
        if (console == null) return false;
        try {
            return (boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (NoSuchMethodException beforeJava22) {
            return true;
        } catch (ReflectiveOperationException e) {
            return false;
        }
    }
}
