package io.carillon.bench.measure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** The CPU time of processes, read from {@code /proc} with a resolution of 10 ms; zero on systems without it. */
public final class CpuTime {
    private static final long NANOS_PER_CLOCK_UNIT = 10_000_000L;
    private static final int USER_FIELD = 11;

    private CpuTime() {}

    /** Returns the CPU time of this JVM. */
    public static long ownNanos() {
        return ofProcess(ProcessHandle.current().pid(), false);
    }

    /** Returns the CPU time of a process without its children. */
    public static long nanos(long pid) {
        return ofProcess(pid, false);
    }

    /** Returns the CPU time of a PostgreSQL server: the postmaster, its children, and its children that have ended. */
    public static long serverNanos(long postmaster) {
        long living = ProcessHandle.of(postmaster)
                .map(ProcessHandle::children)
                .orElseGet(Stream::empty)
                .mapToLong(child -> ofProcess(child.pid(), false))
                .sum();
        return living + ofProcess(postmaster, true);
    }

    private static long ofProcess(long pid, boolean withEnded) {
        try {
            String stat = Files.readString(Path.of("/proc", String.valueOf(pid), "stat"));
            // The program name in parentheses may contain blanks.
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            long units = 0;
            for (int i = USER_FIELD; i < USER_FIELD + (withEnded ? 4 : 2); i++) units += Long.parseLong(fields[i]);
            return units * NANOS_PER_CLOCK_UNIT;
        } catch (IOException e) {
            return 0;
        }
    }
}
