package io.carillon.embedded;

import io.carillon.embedded.internal.datadir.PostmasterFile;
import io.carillon.embedded.internal.datadir.Processes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes the remains of an earlier owner of the data: stops a server that outlived its owner, and removes a pid file
 * that names another process. Only the holder of the {@link OwnerLock} calls this, so no live process uses that server.
 */
final class StaleServerCleanup {
    private static final Logger log = LoggerFactory.getLogger(StaleServerCleanup.class);
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(30);

    private final ServerLauncher launcher;

    StaleServerCleanup(ServerLauncher launcher) {
        this.launcher = launcher;
    }

    void run() throws IOException {
        Path data = launcher.files().data();
        Optional<PostmasterFile> file = PostmasterFile.read(data);
        if (file.isEmpty()) return;
        Optional<Boolean> serves = Processes.isServerOf(file.get().pid(), data);
        if (serves.isEmpty() && launcher.verifier().isOurServer(file.get().port())) serves = Optional.of(true);
        // Unknown: PostgreSQL refuses to start beside another server, and its message is shown to the user.
        if (serves.isEmpty()) return;
        if (serves.get()) stopServer(file.get().pid());
        else removePidFile(data, file.get().pid());
    }

    /**
     * Removes the pid file. After a reboot or in a new container, the id may belong to any process or thread, and
     * PostgreSQL would wait for it forever.
     */
    private static void removePidFile(Path data, long pid) throws IOException {
        if (Files.deleteIfExists(PostmasterFile.in(data)))
            log.info("stale postmaster.pid removed data={} pid={}", data, pid);
    }

    private void stopServer(long pid) throws IOException {
        log.info(
                "stopping the postgres server of a process that has ended data={} pid={}",
                launcher.files().data(),
                pid);
        for (String mode : List.of("fast", "immediate")) {
            launcher.requestStop(mode);
            if (waitForEnd(pid)) return;
        }
        ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
        if (!waitForEnd(pid))
            throw new EmbeddedPostgresException(
                    ("PostgreSQL with process id %d still works on %s and does not stop. End the process and start"
                                    + " again.")
                            .formatted(pid, launcher.files().data()));
    }

    private static boolean waitForEnd(long pid) {
        long deadline = System.nanoTime() + STOP_TIMEOUT.toNanos();
        while (Processes.isRunning(pid)) {
            if (System.nanoTime() - deadline > 0) return false;
            Pauses.pause(Duration.ofMillis(20));
        }
        return true;
    }
}
