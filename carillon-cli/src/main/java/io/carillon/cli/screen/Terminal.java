package io.carillon.cli.screen;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The terminal in which this process was started. Java has no terminal API, so POSIX commands are used. */
public final class Terminal {
    private static final int TIMEOUT_SECONDS = 5;

    private final String settings;

    private Terminal(String settings) {
        this.settings = settings;
    }

    /**
     * Returns the terminal. Empty if it cannot be drawn on: input or output is a file or a pipe, the terminal is dumb,
     * or this process is a background job.
     */
    public static Optional<Terminal> current(Map<String, String> environment) {
        String kind = environment.getOrDefault("TERM", "");
        if (System.getProperty("os.name", "").startsWith("Windows") || kind.isEmpty() || kind.equals("dumb"))
            return Optional.empty();
        String pid = String.valueOf(ProcessHandle.current().pid());
        boolean terminal = run(Redirect.INHERIT, List.of("sh", "-c", "[ -t 0 ] && [ -t 1 ]"))
                .isPresent();
        // The kernel would stop a background job that changes the terminal settings.
        boolean foreground = terminal
                && run(Redirect.PIPE, List.of("ps", "-o", "stat=", "-p", pid))
                        .filter(state -> state.contains("+"))
                        .isPresent();
        return foreground
                ? run(Redirect.PIPE, List.of("stty", "-g")).map(settings -> new Terminal(settings.strip()))
                : Optional.empty();
    }

    /** Returns the current size. */
    public Size size() {
        return run(Redirect.PIPE, List.of("stty", "size")).map(Size::parse).orElse(Size.DEFAULT);
    }

    /** Opens a screen. The guard that restores the terminal is started first. */
    public Screen open(RenderOptions renderOptions) throws IOException {
        TerminalGuard guard = TerminalGuard.start(settings);
        // Keys are read one by one and not echoed. Ctrl-C stays a signal. Ctrl-Z is disabled because it would leave a
        // half-drawn screen.
        run(Redirect.PIPE, List.of("stty", "-echo", "-icanon", "min", "1", "time", "0", "susp", "undef"));
        return new Screen(System.out, guard, renderOptions);
    }

    /** Returns the output of a command; empty if the command fails. Its standard input is the terminal. */
    private static Optional<String> run(Redirect output, List<String> command) {
        try {
            Process process = new ProcessBuilder(command)
                    .redirectInput(Redirect.INHERIT)
                    .redirectOutput(output)
                    .redirectError(Redirect.DISCARD)
                    .start();
            boolean ended = process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            if (!ended) process.destroyForcibly();
            if (!ended || process.exitValue() != 0) return Optional.empty();
            return Optional.of(new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII));
        } catch (IOException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }
}
