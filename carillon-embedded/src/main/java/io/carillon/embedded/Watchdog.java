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
 * A shell on the other end of a pipe, which stops the server when this process is gone: the kernel closes the pipe even after
 * {@code kill -9}. Where it cannot help (no shell, itself killed) the next start ends the server that was left behind.
 */
final class Watchdog implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Watchdog.class);
    private static final String NOBODY = "-";
    private static final String DONE = "done";
    // Reads the process to watch, line by line. At the end of the pipe it signals the last one named and, if a
    // directory
    // was only borrowed, removes it once the server has left it. It outlives the Ctrl-C that ends its parent.
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
    private long watched;

    private Watchdog(@Nullable OutputStream pipe) {
        this.pipe = pipe;
    }

    /** Stops the server in order. */
    static Watchdog forKeptData() {
        return start("INT", "");
    }

    /** Stops the server at once and removes the directory, for it was only borrowed. */
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
            log.warn("no watchdog for postgres, it may outlive a killed process cause={}", e.toString());
            return new Watchdog(null);
        }
    }

    synchronized void watch(Process server) {
        watched = server.pid();
        say(String.valueOf(watched));
        // Its number may be given to a stranger later.
        var unused = server.onExit().thenAccept(ended -> forget(ended.pid()));
    }

    private synchronized void forget(long pid) {
        if (watched == pid) say(NOBODY);
    }

    private void say(String line) {
        if (pipe == null) return;
        try {
            pipe.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
            pipe.flush();
        } catch (IOException e) {
            log.debug("the watchdog of postgres is gone cause={}", e.toString());
        }
    }

    @Override
    public synchronized void close() {
        say(DONE);
        try {
            if (pipe != null) pipe.close();
        } catch (IOException e) {
            log.debug("the watchdog of postgres is gone cause={}", e.toString());
        }
    }
}
