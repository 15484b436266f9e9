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

/** Another JVM on the class path of this one. It ends with this one, however that happens, because its standard input closes. */
public final class Child implements AutoCloseable {
    private static final int END_SECONDS = 40;

    private final Process process;
    private final PrintWriter commands;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

    private Child(Process process) {
        this.process = process;
        this.commands = new PrintWriter(process.getOutputStream(), true, StandardCharsets.UTF_8);
    }

    /** Starts a JVM that plays a role. */
    public static Child start(Role role, String... jvmOptions) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(jvmOptions));
        // Build tools may start the tests from a jar that only points at the class path, and keep the real one here.
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        command.addAll(List.of("-cp", classPath, ChildMain.class.getName(), role.name()));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        Child child = new Child(process);
        Threads.start("bench-child-" + process.pid(), child::read);
        return child;
    }

    private void read() {
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = out.readLine(); line != null; line = out.readLine()) answers.add(line);
        } catch (IOException e) {
            // The pipe broke with the process.
        }
    }

    /** Sends a command and waits for its answer: the words of one line. */
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

    public boolean alive() {
        return process.isAlive();
    }

    /** Ends the process without giving it a chance to react. */
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
