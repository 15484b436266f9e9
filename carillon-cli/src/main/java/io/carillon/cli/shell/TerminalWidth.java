package io.carillon.cli.shell;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;

/** The width of the terminal to which standard output goes. */
public final class TerminalWidth {
    private static final int TIMEOUT_SECONDS = 2;
    private static final int MIN = 20;
    /** Asks the terminal about its size if standard output is one. The answer comes on standard error. */
    private static final List<String> COMMAND = List.of("sh", "-c", "[ -t 1 ] && stty size </dev/tty >&2");

    private TerminalWidth() {}

    /** Returns the number of columns: {@code COLUMNS}, or that of the terminal; empty for a file or a pipe. */
    public static OptionalInt of(Shell shell) {
        OptionalInt given = shell.variable("COLUMNS")
                .filter(text -> text.matches("\\d{1,5}"))
                .map(text -> OptionalInt.of(Integer.parseInt(text)))
                .orElse(OptionalInt.empty());
        OptionalInt found = given.isPresent() || !Terminal.isPresent() ? given : ask();
        return found.isPresent() && found.getAsInt() < MIN ? OptionalInt.empty() : found;
    }

    private static OptionalInt ask() {
        if (System.getProperty("os.name", "").startsWith("Windows")) return OptionalInt.empty();
        try {
            Process process = new ProcessBuilder(COMMAND)
                    .redirectInput(Redirect.INHERIT)
                    .redirectOutput(Redirect.INHERIT)
                    .start();
            boolean ended = process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            if (!ended) process.destroyForcibly();
            if (!ended || process.exitValue() != 0) return OptionalInt.empty();
            String size = new String(process.getErrorStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
            return size.matches("\\d{1,4} \\d{1,4}")
                    ? OptionalInt.of(Integer.parseInt(size.substring(size.indexOf(' ') + 1)))
                    : OptionalInt.empty();
        } catch (IOException e) {
            return OptionalInt.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return OptionalInt.empty();
        }
    }
}
