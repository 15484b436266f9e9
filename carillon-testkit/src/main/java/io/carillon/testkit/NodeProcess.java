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
 * A node in a JVM of its own, on the class path of this one, to be killed, frozen and thawed. What it prints are its events. It ends when this
 * JVM ends, however that happens.
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

    /** Starts a main class with options for the JVM, such as {@code -Xmx64m} or {@code -Duser.timezone=Asia/Tokyo}. */
    public static NodeProcess start(List<String> jvmOptions, Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(QUICK_START);
        command.addAll(jvmOptions);
        command.addAll(List.of("-cp", classPath(), NodeMain.class.getName(), main.getName()));
        command.addAll(List.of(arguments));
        try {
            NodeProcess node = new NodeProcess(
                    new ProcessBuilder(command).redirectErrorStream(true).start());
            Thread reader = new Thread(node::read, "carillon-node-" + node.pid());
            reader.setDaemon(true);
            reader.start();
            return node;
        } catch (IOException e) {
            throw new UncheckedIOException("No JVM could be started as " + command.get(0), e);
        }
    }

    /** Build tools may start the tests from a jar that only points at the class path, and keep the real one here. */
    private static String classPath() {
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    }

    public long pid() {
        return process.pid();
    }

    public boolean alive() {
        return process.isAlive();
    }

    /** Everything it printed so far, errors included. */
    public synchronized List<String> lines() {
        return List.copyOf(lines);
    }

    /** Waits for a line with this beginning. Each call goes on behind the line that the last one returned. */
    public synchronized String awaitLine(String beginning, Duration atMost) {
        long since = System.nanoTime();
        while (true) {
            while (seen < lines.size()) {
                String line = lines.get(seen++);
                if (line.startsWith(beginning)) return line;
            }
            long left = atMost.toNanos() - (System.nanoTime() - since);
            if (ended || left <= 0) throw missing(beginning, ended ? "before it ended" : "within " + atMost);
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

    private AssertionError missing(String beginning, String when) {
        List<String> shown = lines.subList(Math.max(0, lines.size() - SHOWN_LINES), lines.size());
        return new AssertionError("Node %d printed no line beginning with '%s' %s. Its last lines:%n%s"
                .formatted(pid(), beginning, when, String.join(System.lineSeparator(), shown)));
    }

    /** Kills it without warning (SIGKILL) and waits until it is gone. */
    public void kill9() {
        process.destroyForcibly();
        if (!exited(KILL_SECONDS)) throw new AssertionError("node " + pid() + " survived SIGKILL");
    }

    /** Freezes it (SIGSTOP), as a long pause of its machine would. */
    public void stop() {
        signal("STOP");
    }

    /** Thaws it (SIGCONT). */
    public void cont() {
        signal("CONT");
    }

    /** Asks it to end in order, by closing its standard input; kills it if it does not. */
    @Override
    public void close() {
        if (!alive()) return;
        cont();
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            // Its end of the pipe is gone, and so is it.
        }
        if (!exited(END_SECONDS)) kill9();
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
            // The shell's own kill: a separate program of that name is not installed everywhere.
            Process kill = new ProcessBuilder("sh", "-c", "kill -" + name + " " + pid()).start();
            if (kill.waitFor() != 0 && alive()) throw new AssertionError("node " + pid() + " took no SIG" + name);
        } catch (IOException e) {
            throw new UncheckedIOException("Signals need a POSIX shell", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void read() {
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = out.readLine(); line != null; line = out.readLine()) add(line);
        } catch (IOException e) {
            // The pipe broke with the process.
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
