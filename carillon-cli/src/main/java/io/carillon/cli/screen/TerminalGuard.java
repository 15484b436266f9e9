package io.carillon.cli.screen;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A shell at the other end of a pipe that restores the terminal when the pipe closes: at {@link #close()}, and also
 * when this process is killed, because the kernel then closes the pipe.
 */
final class TerminalGuard implements AutoCloseable {
    private static final int TIMEOUT_SECONDS = 3;
    // Ignoring TTOU lets the shell change the terminal even if a killed job has left it in the background.
    private static final String SCRIPT = """
            trap '' HUP INT QUIT TERM TTOU TSTP
            read -r _
            stty "$1" </dev/tty
            printf '\\033[0m\\033[?7h\\033[?25h\\033[?1049l' >/dev/tty
            """;

    private final Process shell;

    private TerminalGuard(Process shell) {
        this.shell = shell;
    }

    static TerminalGuard start(String settings) throws IOException {
        return new TerminalGuard(new ProcessBuilder(List.of("sh", "-c", SCRIPT, "carillon-terminal-guard", settings))
                .redirectOutput(Redirect.DISCARD)
                .redirectError(Redirect.DISCARD)
                .start());
    }

    /** Returns when the terminal is restored. */
    @Override
    public void close() {
        boolean interrupted = Thread.interrupted();
        try (OutputStream pipe = shell.getOutputStream()) {
            pipe.flush();
        } catch (IOException gone) {
            // The shell was killed; the terminal cannot be restored.
        }
        try {
            shell.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException again) {
            interrupted = true;
        }
        if (interrupted) Thread.currentThread().interrupt();
    }
}
