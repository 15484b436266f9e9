package io.carillon.bench;

import io.carillon.bench.measure.Progress;
import java.io.IOException;
import java.io.PrintWriter;

/** Says what is being done: on a terminal in one line that is written over, else in plain lines. */
final class ProgressLine implements Progress {
    private static final int WIDTH = 100;

    private final PrintWriter err;
    private final boolean terminal;
    private final long start = System.nanoTime();
    private String workload = "";

    private ProgressLine(PrintWriter err, boolean terminal) {
        this.err = err;
        this.terminal = terminal;
    }

    static ProgressLine on(PrintWriter err) {
        return new ProgressLine(err, onTerminal());
    }

    /** Java cannot ask, the shell can. */
    private static boolean onTerminal() {
        try {
            return new ProcessBuilder("sh", "-c", "[ -t 2 ]")
                            .inheritIO()
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** What follows belongs to this workload. */
    void workload(String name) {
        workload = name;
    }

    @Override
    public void say(String what) {
        String line = "%4d s  %s: %s".formatted((System.nanoTime() - start) / 1_000_000_000L, workload, what);
        if (terminal) err.print("\r" + (line + " ".repeat(WIDTH)).substring(0, WIDTH));
        else err.println(line);
        err.flush();
    }

    /** A line that stays. */
    void keep(String what) {
        say(what);
        if (terminal) err.println();
    }
}
