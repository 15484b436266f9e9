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

/** The {@code carillon} command in a process of its own, without a terminal; closing it leaves nothing behind. */
final class Command implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Process process;
    private final Path messages;
    private final StringBuilder said = new StringBuilder();
    private boolean ended;

    private Command(Process process, Path messages) {
        this.process = process;
        this.messages = messages;
        Thread reader = new Thread(this::read, "command-output");
        reader.setDaemon(true);
        reader.start();
    }

    static Command start(String... words) throws IOException {
        return launch(java(words));
    }

    /** The same in a terminal of its own, by the program {@code script}; what is typed goes to {@link #type}. */
    static Command inTerminal(String... words) throws IOException {
        String line = java(words).stream().map(word -> "'" + word + "'").collect(Collectors.joining(" "));
        // Like the shell of a user it outlives a killed program: the terminal is gone with the last process in it.
        String session = "stty rows 24 cols 80; " + line + "; code=$?; [ $code -lt 128 ] || read -r key; exit $code";
        return launch(List.of("script", "-qfec", session, "/dev/null"));
    }

    /** A program of a user's, out of one file of source, with these variables. */
    static Command program(Map<String, String> environment, String source) throws IOException {
        List<String> java = java();
        List<String> command = new ArrayList<>(java.subList(0, java.size() - 1));
        command.add(source);
        return launch(command, environment);
    }

    /** How a shell starts it. */
    static String program() {
        return java().stream().map(word -> "'" + word + "'").collect(Collectors.joining(" "));
    }

    private static List<String> java(String... words) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), "io.carillon.cli.Main"));
        command.addAll(List.of(words));
        return command;
    }

    private static Command launch(List<String> command) throws IOException {
        return launch(command, Map.of());
    }

    private static Command launch(List<String> command, Map<String, String> environment) throws IOException {
        Path messages = Files.createTempFile("carillon-command", ".err");
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(messages.toFile());
        builder.environment().keySet().removeAll(List.of("DATABASE_URL", "JAVA_TOOL_OPTIONS", "NO_COLOR"));
        // Even where one could draw: a pipe is no terminal.
        builder.environment().putAll(Map.of("TERM", "xterm", "LC_ALL", "C.UTF-8"));
        builder.environment().putAll(environment);
        return new Command(builder.start(), messages);
    }

    /** Runs it to its end. */
    static Command ended(String... words) throws Exception {
        try (Command command = start(words)) {
            command.exit();
            return command;
        }
    }

    /** By pieces, because what is drawn on a terminal has no lines. */
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
        said.append(piece);
        notifyAll();
    }

    /** The first place where the pattern is found, in all that was said so far and all to come; ^ and $ are the ends of a line. */
    synchronized Matcher await(String pattern) throws Exception {
        Pattern wanted = Pattern.compile(pattern, Pattern.MULTILINE);
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            Matcher found = wanted.matcher(out());
            if (found.find()) return found;
            long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            if (ended || left <= 0)
                throw new AssertionError("Nothing matches '%s'. It said:%n%s%n%s".formatted(pattern, out(), err()));
            wait(left);
        }
    }

    synchronized String out() {
        return said.toString();
    }

    String err() {
        try {
            return Files.readString(messages);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void type(String keys) throws IOException {
        process.getOutputStream().write(keys.getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().flush();
    }

    /** It and all it started. */
    List<ProcessHandle> family() {
        List<ProcessHandle> family = new ArrayList<>(process.descendants().toList());
        family.add(process.toHandle());
        return family;
    }

    /** What a service manager does, or a terminal with Ctrl-C; answers the exit code. */
    int terminate() throws Exception {
        // By its handle: the process itself would close the pipe on our side, and its last words were lost.
        process.toHandle().destroy();
        return exit();
    }

    /** Its exit code, and all its output is there. */
    synchronized int exit() throws Exception {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!ended || process.isAlive()) {
            long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            if (left <= 0) throw new AssertionError("It does not end. It said:%n%s%n%s".formatted(out(), err()));
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
