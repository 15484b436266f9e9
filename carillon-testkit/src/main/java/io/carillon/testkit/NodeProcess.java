package io.carillon.testkit;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A node in its own JVM, with the class path of this JVM, that can be killed, frozen and resumed. Its output lines are
 * its events. The process ends when this JVM ends, also if this JVM is killed.
 */
public final class NodeProcess implements AutoCloseable {
    private static final List<String> QUICK_START = List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");
    private static final int SHOWN_LINES = 40;
    private static final int END_SECONDS = 45;
    private static final int KILL_SECONDS = 10;

    private final Process process;
    private final List<String> lines = new ArrayList<>();
    private int seen;
    private boolean ended;

    private NodeProcess(Process process) {
        this.process = process;
    }

    /** Starts a main class with these arguments. */
    public static NodeProcess start(Class<?> main, String... arguments) {
        return start(List.of(), main, arguments);
    }

    /**
     * Like {@link #start(Class, String...)}, with JVM options such as {@code -Xmx64m} or
     * {@code -Duser.timezone=Asia/Tokyo}.
     */
    public static NodeProcess start(List<String> jvmOptions, Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(QUICK_START);
        command.addAll(jvmOptions);
        command.addAll(List.of("-cp", classPath(), NodeProcessMain.class.getName(), main.getName()));
        command.addAll(List.of(arguments));
        try {
            NodeProcess node = new NodeProcess(
                    new ProcessBuilder(command).redirectErrorStream(true).start());
            Thread reader = new Thread(node::read, "carillon-node-" + node.pid());
            reader.setDaemon(true);
            reader.start();
            return node;
        } catch (IOException e) {
            throw new UncheckedIOException("could not start a JVM with " + command.get(0), e);
        }
    }

    /**
     * Returns the class path. Surefire may start the tests from a jar that only references the class path, and keeps
     * the real one in this property.
     */
    private static String classPath() {
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    }

    /** Returns the process id. */
    public long pid() {
        return process.pid();
    }

    /** Returns whether the process is alive. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** Returns all lines printed so far, including standard error. */
    public synchronized List<String> lines() {
        return List.copyOf(lines);
    }

    /**
     * Waits for a line with this prefix, and returns it. Each call continues after the line that the
     * previous call returned.
     */
    public synchronized String awaitLine(String prefix, Duration atMost) {
        long since = System.nanoTime();
        while (true) {
            while (seen < lines.size()) {
                String line = lines.get(seen++);
                if (line.startsWith(prefix)) return line;
            }
            long left = atMost.toNanos() - (System.nanoTime() - since);
            if (ended || left <= 0) throw missing(prefix, ended ? "before it ended" : "within " + atMost);
            pause(left);
        }
    }

    private synchronized void pause(long nanos) {
        try {
            TimeUnit.NANOSECONDS.timedWait(this, Math.max(nanos, 1_000_000));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while waiting for node " + pid(), e);
        }
    }

    private AssertionError missing(String prefix, String when) {
        List<String> shown = lines.subList(Math.max(0, lines.size() - SHOWN_LINES), lines.size());
        return new AssertionError("Node %d printed no line that starts with '%s' %s. Its last lines:%n%s"
                .formatted(pid(), prefix, when, String.join(System.lineSeparator(), shown)));
    }

    /** Kills the process (SIGKILL) and waits until it has ended. */
    public void kill() {
        process.destroyForcibly();
        if (!exited(KILL_SECONDS)) throw new AssertionError("node " + pid() + " did not end after SIGKILL");
    }

    /** Freezes the process (SIGSTOP), like a long pause of its machine. */
    public void freeze() {
        signal("STOP");
    }

    /** Resumes the frozen process (SIGCONT). */
    public void resume() {
        signal("CONT");
    }

    /**
     * Requests an orderly shutdown by closing the standard input of the process, and kills the process if it
     * does not end.
     */
    @Override
    public void close() {
        if (!isAlive()) return;
        resume();
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            // The pipe is broken because the process has ended.
        }
        if (!exited(END_SECONDS)) kill();
    }

    private boolean exited(int seconds) {
        try {
            return process.waitFor(seconds, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private void signal(String name) {
        try {
            // The kill command of the shell, because a separate kill program is not installed everywhere.
            Process kill = new ProcessBuilder("sh", "-c", "kill -" + name + " " + pid()).start();
            if (kill.waitFor() != 0 && isAlive())
                throw new AssertionError("node " + pid() + " could not be sent SIG" + name);
        } catch (IOException e) {
            throw new UncheckedIOException("could not send a signal: a POSIX shell is required", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void read() {
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = out.readLine(); line != null; line = out.readLine()) add(line);
        } catch (IOException e) {
            // The pipe is broken because the process has ended.
        }
        synchronized (this) {
            ended = true;
            notifyAll();
        }
    }

    private synchronized void add(String line) {
        lines.add(line);
        notifyAll();
    }
}
