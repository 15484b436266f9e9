package io.carillon.embedded;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs programs, as argument lists and never through a shell, so that no character of a path means anything. */
final class Commands {
    private static final Duration PROBE = Duration.ofSeconds(10);

    private Commands() {}

    /** A program with an environment of its own: settings and language of the caller must not change what PostgreSQL does. */
    static ProcessBuilder prepare(List<String> command, Path workingDirectory) {
        ProcessBuilder builder = new ProcessBuilder(command).directory(workingDirectory.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("PG") || name.startsWith("LC_"));
        // The messages in the log are read by this package.
        builder.environment().put("LC_ALL", "C");
        return builder.redirectErrorStream(true);
    }

    /** Runs to the end and answers the exit code; a program that outstays its time is ended and throws. */
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

    /** Whether this command exists here and ends well. */
    static boolean succeeds(List<String> command) {
        try {
            return run(prepare(command, Path.of("/")).redirectOutput(Redirect.DISCARD), PROBE) == 0;
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
