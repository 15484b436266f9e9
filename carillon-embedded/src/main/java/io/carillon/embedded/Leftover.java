package io.carillon.embedded;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deals with what an earlier owner of the data left behind: a server that outlived it is ended, a file that names a stranger is removed.
 * Only the holder of the {@link OwnerLock} may ask, so nobody living misses that server.
 */
final class Leftover {
    private static final Logger log = LoggerFactory.getLogger(Leftover.class);
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final ServerPlan plan;

    Leftover(ServerPlan plan) {
        this.plan = plan;
    }

    void clear() throws IOException {
        Path data = plan.files().data();
        Optional<PostmasterFile> file = PostmasterFile.read(data);
        if (file.isEmpty()) return;
        Optional<Boolean> serves = Proc.serves(file.get().pid(), data);
        if (serves.isEmpty() && plan.greeting().recognises(file.get().port())) serves = Optional.of(true);
        // Unknown: PostgreSQL itself refuses to start beside it, and its words go to the user.
        if (serves.isEmpty()) return;
        if (serves.get()) end(file.get().pid());
        else forget(data, file.get().pid());
    }

    /** After a reboot, or in a new container, the number may belong to any process or thread, and PostgreSQL would wait for it for ever. */
    private static void forget(Path data, long pid) throws IOException {
        if (Files.deleteIfExists(PostmasterFile.in(data)))
            log.info("stale postmaster.pid removed data={} pid={}", data, pid);
    }

    private void end(long pid) throws IOException {
        log.info(
                "ending the postgres of a process that is gone data={} pid={}",
                plan.files().data(),
                pid);
        for (String mode : List.of("fast", "immediate")) {
            plan.signal(mode);
            if (waitForEnd(pid)) return;
        }
        ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
        if (!waitForEnd(pid))
            throw new EmbeddedPostgresException(
                    "PostgreSQL with process id %d still works on %s and does not end. End it and start again."
                            .formatted(pid, plan.files().data()));
    }

    private static boolean waitForEnd(long pid) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (Proc.runs(pid)) {
            if (System.nanoTime() - deadline > 0) return false;
            Pauses.pause(Duration.ofMillis(20));
        }
        return true;
    }
}
