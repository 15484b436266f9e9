package io.carillon.embedded;

import io.carillon.embedded.internal.datadir.PostmasterFile;
import io.carillon.embedded.internal.datadir.Processes;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The server process: starts it and waits until it is ready, stops it and waits until it has ended. Methods that change
 * the state must be called by one thread at a time; any thread may read the port and the process id.
 */
final class PostgresServer {
    private static final Logger log = LoggerFactory.getLogger(PostgresServer.class);
    private static final int MAX_PORT_TRIES = 20;
    // A killed server may remain as a zombie, and its children hold the shared memory until they notice its end.
    private static final Duration KILL_TIMEOUT = Duration.ofSeconds(15);
    // Only a server that hangs reaches this timeout: a server that fails ends, and the recovery of much
    // data takes time.
    private static final Duration READY_TIMEOUT = Duration.ofMinutes(5);
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(60);

    private final ServerLauncher launcher;
    private final Watchdog watchdog;
    private volatile int port;
    private volatile @Nullable Process process;

    PostgresServer(ServerLauncher launcher, Watchdog watchdog) {
        this.launcher = launcher;
        this.watchdog = watchdog;
    }

    /** The result of one launch. */
    private enum LaunchResult {
        READY,
        PORT_TAKEN,
        PREVIOUS_SERVER_STILL_RUNNING,
        FAILED
    }

    int port() {
        return port;
    }

    long pid() {
        Process last = process;
        return last == null ? -1 : last.pid();
    }

    void startOnPort(int wantedPort) throws IOException {
        port = wantedPort;
        if (!start(Duration.ZERO)) throw portTaken();
    }

    /**
     * Starts on a free port. Another process may take the port before the server opens it; then the next port is tried.
     */
    void startOnFreePort(IntSupplier ports) throws IOException {
        for (int i = 0; i < MAX_PORT_TRIES; i++) {
            port = ports.getAsInt();
            if (start(Duration.ZERO)) return;
        }
        throw portTaken();
    }

    /** Starts on the previous port, because the clients reconnect to it. */
    void restart() throws IOException {
        if (!start(KILL_TIMEOUT)) throw portTaken();
    }

    private boolean start(Duration portTimeout) throws IOException {
        long begin = System.nanoTime();
        while (true) {
            new StaleServerCleanup(launcher).run();
            long mark = launcher.log().length();
            LaunchResult result = launch(mark);
            if (result == LaunchResult.READY) return true;
            Duration timeout = result == LaunchResult.PORT_TAKEN ? portTimeout : KILL_TIMEOUT;
            boolean again = result != LaunchResult.FAILED && System.nanoTime() - begin < timeout.toNanos();
            if (!again && result == LaunchResult.PORT_TAKEN) return false;
            if (!again) throw failed("ended before it was ready", mark);
            Pauses.pause(Duration.ofMillis(200));
        }
    }

    private LaunchResult launch(long mark) throws IOException {
        Process launched = launcher.launch(port);
        process = launched;
        watchdog.watch(launched);
        boolean ready = false;
        try {
            LaunchResult result = awaitReady(launched, mark);
            if (result != LaunchResult.READY) return result;
            launcher.verifier().verify(port);
            ready = true;
            log.info(
                    "postgres started version={} port={} pid={} data={}",
                    launcher.binaries().version(),
                    port,
                    launched.pid(),
                    launcher.files().data());
            return result;
        } catch (SQLException e) {
            throw new EmbeddedPostgresException(
                    ("PostgreSQL started on port %d but rejected the connection: %s. Check that %s contains the"
                                    + " password of this cluster. %s")
                            .formatted(
                                    port,
                                    e.getMessage(),
                                    launcher.files().password(),
                                    launcher.log().lastLinesSince(mark)),
                    e);
        } finally {
            if (!ready) kill();
        }
    }

    private LaunchResult awaitReady(Process launched, long mark) throws IOException {
        long deadline = System.nanoTime() + READY_TIMEOUT.toNanos();
        while (launched.isAlive()) {
            boolean ready = PostmasterFile.read(launcher.files().data())
                    .filter(file -> file.ready() && file.pid() == launched.pid())
                    .isPresent();
            if (ready) return LaunchResult.READY;
            if (System.nanoTime() - deadline > 0) throw failed("was not ready after " + READY_TIMEOUT, mark);
            Pauses.pause(Duration.ofMillis(10));
        }
        return classify(launcher.log().since(mark));
    }

    private static LaunchResult classify(String output) {
        if (output.contains("could not create any TCP/IP sockets") && !output.contains("Permission denied"))
            return LaunchResult.PORT_TAKEN;
        if (output.contains("lock file \"postmaster.pid\" already exists") || output.contains("shared memory block"))
            return LaunchResult.PREVIOUS_SERVER_STILL_RUNNING;
        return LaunchResult.FAILED;
    }

    /**
     * Stops the server with this mode of {@code pg_ctl}. Kills it if this takes too long or the thread is interrupted.
     */
    void stop(String mode) throws IOException {
        Process running = process;
        if (running == null || !running.isAlive()) return;
        boolean stopped = false;
        try {
            launcher.requestStop(mode);
            stopped = running.waitFor(STOP_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw EmbeddedPostgresException.interrupted("stopping PostgreSQL", e);
        } finally {
            if (!stopped) kill();
        }
    }

    /** Kills the server and its child processes without a shutdown, like a power failure. */
    void kill() {
        Process running = process;
        if (running == null || !running.isAlive()) return;
        List<ProcessHandle> children = running.descendants().toList();
        running.destroyForcibly();
        children.forEach(ProcessHandle::destroyForcibly);
        long deadline = System.nanoTime() + KILL_TIMEOUT.toNanos();
        while (running.isAlive() || children.stream().anyMatch(child -> Processes.isRunning(child.pid()))) {
            if (System.nanoTime() - deadline > 0)
                throw new EmbeddedPostgresException(
                        "PostgreSQL (process %d) did not end after kill -9.".formatted(running.pid()));
            Pauses.pauseUninterruptibly(Duration.ofMillis(5));
        }
    }

    private EmbeddedPostgresException portTaken() {
        return new EmbeddedPostgresException(
                ("Port %d on 127.0.0.1 is in use by another program. Stop that program, set another port, or set none"
                                + " to use a free port.")
                        .formatted(port));
    }

    private EmbeddedPostgresException failed(String how, long mark) throws IOException {
        return new EmbeddedPostgresException("PostgreSQL on %s %s. %s"
                .formatted(launcher.files().data(), how, launcher.log().lastLinesSince(mark)));
    }
}
