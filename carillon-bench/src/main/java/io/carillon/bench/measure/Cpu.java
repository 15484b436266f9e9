package io.carillon.bench.measure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** CPU time that processes have used, from {@code /proc}; zero where there is none. Counts in steps of 10 ms. */
public final class Cpu {
    private static final long NANOS_PER_TICK = 10_000_000L;
    private static final int USER_FIELD = 11;

    private Cpu() {}

    /** Of this JVM. */
    public static long ownNanos() {
        return ofProcess(ProcessHandle.current().pid(), false);
    }

    /** Of another process alone. */
    public static long nanos(long pid) {
        return ofProcess(pid, false);
    }

    /** Of a PostgreSQL server: the postmaster, those it started, and those of them that have ended. */
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
            // The name of the program, in parentheses, may hold blanks.
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            long ticks = 0;
            for (int i = USER_FIELD; i < USER_FIELD + (withEnded ? 4 : 2); i++) ticks += Long.parseLong(fields[i]);
            return ticks * NANOS_PER_TICK;
        } catch (IOException e) {
            return 0;
        }
    }
}
