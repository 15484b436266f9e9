package io.carillon.it.cli;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The {@code carillon} command in its own process, without a terminal. Closing it ends the process. */
final class CommandProcess implements AutoCloseable {
    /** Creating a durable database beside other work on a slow disk takes more than a minute. */
    private static final Duration TIMEOUT = Duration.ofMinutes(4);

    private final Process process;
    private final Path errorFile;
    private final Path home;
    private final StringBuilder output = new StringBuilder();
    private boolean ended;

    private CommandProcess(Process process, Path errorFile, Path home) {
        this.process = process;
        this.errorFile = errorFile;
        this.home = home;
        Thread reader = new Thread(this::read, "command-output");
        reader.setDaemon(true);
        reader.start();
    }

    static CommandProcess start(String... words) throws IOException {
        return launch(java(words));
    }

    /** Starts the command in a terminal of the program {@code script}; {@link #type} sends keys to it. */
    static CommandProcess inTerminal(String... words) throws IOException {
        String line = java(words).stream().map(word -> "'" + word + "'").collect(Collectors.joining(" "));
        // The shell outlives a killed program, as a user's shell does: the terminal closes with its last process.
        String session = "stty rows 24 cols 80; " + line + "; code=$?; [ $code -lt 128 ] || read -r key; exit $code";
        return launch(List.of("script", "-qfec", session, "/dev/null"));
    }

    /** Starts a Java program of one source file with these environment variables. */
    static CommandProcess shellCommand(Map<String, String> environment, String source) throws IOException {
        List<String> java = java();
        List<String> command = new ArrayList<>(java.subList(0, java.size() - 1));
        command.add(source);
        return launch(command, environment);
    }

    /** Returns the command line for a shell. */
    static String shellCommand() {
        return java().stream().map(word -> "'" + word + "'").collect(Collectors.joining(" "));
    }

    private static List<String> java(String... words) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), "io.carillon.cli.Main"));
        command.addAll(List.of(words));
        return command;
    }

    private static CommandProcess launch(List<String> command) throws IOException {
        return launch(command, Map.of());
    }

    private static CommandProcess launch(List<String> command, Map<String, String> environment) throws IOException {
        Path messages = Files.createTempFile("carillon-command", ".err");
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(messages.toFile());
        builder.environment().keySet().removeAll(List.of("DATABASE_URL", "JAVA_TOOL_OPTIONS", "NO_COLOR"));
        // TERM and LC_ALL would allow drawing; the command must see that a pipe is not a terminal.
        builder.environment().putAll(Map.of("TERM", "xterm", "LC_ALL", "C.UTF-8"));
        // Keys of the first start must not get into the directory of the user who runs the tests.
        Path home = Files.createTempDirectory("carillon-home");
        builder.environment().put("CARILLON_HOME", home.toString());
        builder.environment().putAll(environment);
        return new CommandProcess(builder.start(), messages, home);
    }

    /** Returns the directory with the data of the user of this process, such as the profiles. */
    Path home() {
        return home;
    }

    /** Runs the command until it ends. */
    static CommandProcess runToEnd(String... words) throws Exception {
        try (CommandProcess commandProcess = start(words)) {
            commandProcess.exitCode();
            return commandProcess;
        }
    }

    /** Reads in chunks, because drawings on a terminal contain no line ends. */
    private void read() {
        try (Reader output = process.inputReader(StandardCharsets.UTF_8)) {
            char[] piece = new char[8_192];
            for (int n = output.read(piece); n >= 0; n = output.read(piece)) add(new String(piece, 0, n));
        } catch (IOException e) {
            add("(unreadable: " + e + ")");
        }
        synchronized (this) {
            ended = true;
            notifyAll();
        }
    }

    private synchronized void add(String piece) {
        output.append(piece);
        notifyAll();
    }

    /**
     * Waits until the output, including earlier output, matches the pattern, and returns the first match; ^ and $ match
     * at line ends.
     */
    synchronized Matcher await(String pattern) throws Exception {
        Pattern wanted = Pattern.compile(pattern, Pattern.MULTILINE);
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (true) {
            Matcher found = wanted.matcher(out());
            if (found.find()) return found;
            long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            if (ended || left <= 0)
                throw new AssertionError("No output matches '%s'. Output:%n%s%n%s".formatted(pattern, out(), err()));
            wait(left);
        }
    }

    /** Waits until the first start of a server has named the file with its key, and returns the key. */
    String awaitBootstrapKey() throws Exception {
        String file = await("^The first API key, .* is in (/.*)$").group(1);
        return Files.readString(Path.of(file)).strip();
    }

    synchronized String out() {
        return output.toString();
    }

    String err() {
        try {
            return Files.readString(errorFile);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void type(String keys) throws IOException {
        process.getOutputStream().write(keys.getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().flush();
    }

    /** Returns the process and its descendants. */
    List<ProcessHandle> processTree() {
        List<ProcessHandle> processes = new ArrayList<>(process.descendants().toList());
        processes.add(process.toHandle());
        return processes;
    }

    /** Sends SIGTERM, as a service manager does, and returns the exit code. */
    int terminate() throws Exception {
        // Through the handle: Process.destroy closes the pipe on this side, and the last output would be lost.
        process.toHandle().destroy();
        return exitCode();
    }

    /** Waits until the process has ended and its output is read, and returns its exit code. */
    synchronized int exitCode() throws Exception {
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (!ended || process.isAlive()) {
            long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            if (left <= 0) throw new AssertionError("The command does not end:%n%s%n%s".formatted(out(), err()));
            if (ended) process.waitFor(left, TimeUnit.MILLISECONDS);
            else wait(left);
        }
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
