package io.carillon.embedded;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A shell process that stops the server when this process ends. The shell reads a pipe, which the kernel closes even
 * after {@code kill -9}. If the watchdog is not available (no shell, or itself killed), the next start stops the
 * remaining server.
 */
final class Watchdog implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Watchdog.class);
    private static final String NO_PROCESS = "-";
    private static final String DONE = "done";
    // Reads the process id to watch, line by line. At the end of the pipe it signals the last process and,
    // for a temporary directory, removes the directory after the server has ended. It ignores the Ctrl-C that
    // ends its parent.
    private static final String SCRIPT = """
            signal=$1 directory=$2 pid=-
            trap '' HUP INT TERM
            while read -r line; do
              [ "$line" = done ] && exit 0
              pid=$line
            done
            [ "$pid" = - ] || kill -"$signal" "$pid" 2>/dev/null
            [ -n "$directory" ] || exit 0
            tries=0
            while [ "$pid" != - ] && [ -e "$directory/data/postmaster.pid" ] && [ $tries -lt 30 ]; do
              sleep 1
              tries=$((tries + 1))
            done
            rm -rf -- "$directory"
            """;

    private final @Nullable OutputStream pipe;
    private long watchedPid;

    private Watchdog(@Nullable OutputStream pipe) {
        this.pipe = pipe;
    }

    /** Returns a watchdog that stops the server in an orderly way. */
    static Watchdog forKeptData() {
        return start("INT", "");
    }

    /** Returns a watchdog that stops the server immediately and removes the temporary directory. */
    static Watchdog forTemporary(Path home) {
        return start("QUIT", home.toString());
    }

    private static Watchdog start(String signal, String directory) {
        if (Platform.WINDOWS) return new Watchdog(null);
        List<String> command = List.of("/bin/sh", "-c", SCRIPT, "carillon-watchdog", signal, directory);
        try {
            ProcessBuilder builder = Commands.prepare(command, Path.of("/")).redirectOutput(Redirect.DISCARD);
            return new Watchdog(builder.start().getOutputStream());
        } catch (IOException e) {
            log.warn("no watchdog for postgres; the server may outlive a killed process cause={}", e.toString());
            return new Watchdog(null);
        }
    }

    synchronized void watch(Process server) {
        watchedPid = server.pid();
        writeLine(String.valueOf(watchedPid));
        // The process id may be reused by another process later.
        var unused = server.onExit().thenAccept(ended -> stopWatching(ended.pid()));
    }

    private synchronized void stopWatching(long pid) {
        if (watchedPid == pid) writeLine(NO_PROCESS);
    }

    private void writeLine(String line) {
        if (pipe == null) return;
        try {
            pipe.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
            pipe.flush();
        } catch (IOException e) {
            log.debug("the watchdog of postgres has ended cause={}", e.toString());
        }
    }

    @Override
    public synchronized void close() {
        writeLine(DONE);
        try {
            if (pipe != null) pipe.close();
        } catch (IOException e) {
            log.debug("the watchdog of postgres has ended cause={}", e.toString());
        }
    }
}
