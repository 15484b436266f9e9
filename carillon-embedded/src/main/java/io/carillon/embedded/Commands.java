package io.carillon.embedded;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs programs from argument lists and never through a shell, so that paths need no quoting. */
final class Commands {
    private static final Duration PROBE_TIMEOUT = Duration.ofSeconds(10);

    private Commands() {}

    /**
     * Prepares a program without the PostgreSQL and locale settings of the caller, which must not affect PostgreSQL.
     */
    static ProcessBuilder prepare(List<String> command, Path workingDirectory) {
        ProcessBuilder builder = new ProcessBuilder(command).directory(workingDirectory.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("PG") || name.startsWith("LC_"));
        // This package reads the messages in the log.
        builder.environment().put("LC_ALL", "C");
        return builder.redirectErrorStream(true);
    }

    /**
     * Runs a program to its end and returns the exit code. A program that exceeds the limit is killed, and an exception
     * is thrown.
     */
    static int run(ProcessBuilder builder, Duration limit) throws IOException {
        Process process = builder.start();
        process.getOutputStream().close();
        try {
            if (process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) return process.exitValue();
            throw new IOException("%s did not end within %s".formatted(builder.command(), limit));
        } catch (InterruptedException e) {
            throw EmbeddedPostgresException.interrupted("running " + builder.command(), e);
        } finally {
            process.destroyForcibly();
        }
    }

    /** Returns whether this command exists and exits with code 0. */
    static boolean succeeds(List<String> command) {
        try {
            return run(prepare(command, Path.of("/")).redirectOutput(Redirect.DISCARD), PROBE_TIMEOUT) == 0;
        } catch (IOException e) {
            return false;
        }
    }

    static boolean exists(String program) {
        String path = System.getenv("PATH");
        if (path == null) return false;
        for (String directory : path.split(":", -1))
            if (!directory.isEmpty() && Files.isExecutable(Path.of(directory, program))) return true;
        return false;
    }
}
