package io.carillon.bench;

import io.carillon.bench.measure.Progress;
import java.io.IOException;
import java.io.PrintWriter;

/** Prints the progress: on a terminal in one line that is overwritten, otherwise in plain lines. */
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

    /** Returns whether standard error is a terminal. Java has no API for it, so a shell checks it. */
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

    /** Sets the workload of the following reports. */
    void workload(String name) {
        workload = name;
    }

    @Override
    public void report(String what) {
        String line = "%4d s  %s: %s".formatted((System.nanoTime() - start) / 1_000_000_000L, workload, what);
        if (terminal) err.print("\r" + (line + " ".repeat(WIDTH)).substring(0, WIDTH));
        else err.println(line);
        err.flush();
    }

    /** Prints a line that is not overwritten. */
    void printPermanently(String what) {
        report(what);
        if (terminal) err.println();
    }
}
