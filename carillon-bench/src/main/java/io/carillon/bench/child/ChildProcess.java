package io.carillon.bench.child;

import io.carillon.bench.measure.MeasureException;
import io.carillon.bench.measure.Threads;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Another JVM with the class path of this one. It ends when this JVM ends for any reason, because its
 * standard input closes.
 */
public final class ChildProcess implements AutoCloseable {
    private static final int END_SECONDS = 40;

    private final Process process;
    private final PrintWriter commands;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

    private ChildProcess(Process process) {
        this.process = process;
        this.commands = new PrintWriter(process.getOutputStream(), true, StandardCharsets.UTF_8);
    }

    /** Starts a JVM in a role. */
    public static ChildProcess start(Role role, String... jvmOptions) throws IOException {
        return start(List.of(), role, jvmOptions);
    }

    /**
     * Starts a JVM in a role with the lowest priority: it stands for another machine, and should take as little of this
     * one as possible from what is measured.
     */
    public static ChildProcess startWithLowPriority(Role role, String... jvmOptions) throws IOException {
        return start(List.of("nice", "-n", "19"), role, jvmOptions);
    }

    private static ChildProcess start(List<String> prefix, Role role, String... jvmOptions) throws IOException {
        List<String> command = new ArrayList<>(prefix);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(jvmOptions));
        // Build tools may start tests from a jar that only references the class path, and store the real
        // class path here.
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        command.addAll(List.of("-cp", classPath, ChildMain.class.getName(), role.name()));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        ChildProcess childProcess = new ChildProcess(process);
        Threads.start("bench-child-" + process.pid(), childProcess::read);
        return childProcess;
    }

    private void read() {
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = out.readLine(); line != null; line = out.readLine()) answers.add(line);
        } catch (IOException e) {
            // The process has ended.
        }
    }

    /** Sends a command and returns the words of its one-line answer. */
    public List<String> ask(Duration atMost, String... words) {
        commands.println(String.join("\t", words));
        try {
            String answer = answers.poll(atMost.toMillis(), TimeUnit.MILLISECONDS);
            if (answer != null) return List.of(answer.split("\t", -1));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        throw new MeasureException("Process %d (%s) did not answer '%s' within %d s."
                .formatted(process.pid(), process.isAlive() ? "alive" : "ended", words[0], atMost.toSeconds()));
    }

    public long pid() {
        return process.pid();
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** Kills the process. */
    public void kill() {
        process.destroyForcibly();
    }

    @Override
    public void close() {
        commands.close();
        try {
            if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) process.destroyForcibly();
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
