package io.carillon.cli.screen;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The terminal this process was started in. Asked through small programs of POSIX, for Java cannot ask it itself. */
public final class Terminal {
    private static final int PATIENCE_SECONDS = 5;

    private final String settings;

    private Terminal(String settings) {
        this.settings = settings;
    }

    /** Empty where there is none that could be drawn on: input or output is a file or a pipe, it is dumb, or this is a background job. */
    public static Optional<Terminal> here(Map<String, String> environment) {
        String kind = environment.getOrDefault("TERM", "");
        if (System.getProperty("os.name", "").startsWith("Windows") || kind.isEmpty() || kind.equals("dumb"))
            return Optional.empty();
        String pid = String.valueOf(ProcessHandle.current().pid());
        boolean terminal = run(Redirect.INHERIT, List.of("sh", "-c", "[ -t 0 ] && [ -t 1 ]"))
                .isPresent();
        // A background job that touched the settings would be stopped by the kernel.
        boolean inFront = terminal
                && run(Redirect.PIPE, List.of("ps", "-o", "stat=", "-p", pid))
                        .filter(state -> state.contains("+"))
                        .isPresent();
        return inFront
                ? run(Redirect.PIPE, List.of("stty", "-g")).map(settings -> new Terminal(settings.strip()))
                : Optional.empty();
    }

    /** Its size now. */
    public Size size() {
        return run(Redirect.PIPE, List.of("stty", "size")).map(Size::parse).orElse(Size.USUAL);
    }

    /** A screen of its own; the guard that gives the terminal back is set up first. */
    public Screen open(Look look) throws IOException {
        TerminalGuard guard = TerminalGuard.over(settings);
        // Keys are read one by one and not shown. Ctrl-C stays a signal; Ctrl-Z would leave a half-drawn screen behind.
        run(Redirect.PIPE, List.of("stty", "-echo", "-icanon", "min", "1", "time", "0", "susp", "undef"));
        return new Screen(System.out, guard, look);
    }

    /** What a program said that ended well. Its standard input is ours, the terminal. */
    private static Optional<String> run(Redirect output, List<String> command) {
        try {
            Process process = new ProcessBuilder(command)
                    .redirectInput(Redirect.INHERIT)
                    .redirectOutput(output)
                    .redirectError(Redirect.DISCARD)
                    .start();
            boolean ended = process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
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
