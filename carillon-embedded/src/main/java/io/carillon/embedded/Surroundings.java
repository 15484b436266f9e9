package io.carillon.embedded;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** What a server needs around it for as long as its owner lives, and what {@link #close()} takes away again. */
final class Surroundings implements AutoCloseable {
    private final ClusterFiles files;
    private final @Nullable OwnerLock lock;
    private final @Nullable Path thrownAway;
    private final Watchdog watchdog;
    private @Nullable Thread hook;

    private Surroundings(ClusterFiles files, @Nullable OwnerLock lock, @Nullable Path thrownAway) {
        this.files = files;
        this.lock = lock;
        this.thrownAway = thrownAway;
        this.watchdog = thrownAway == null ? Watchdog.forKeptData() : Watchdog.forTemporary(thrownAway);
    }

    static Surroundings kept(Path data) throws IOException {
        ClusterFiles files = ClusterFiles.of(data);
        return new Surroundings(files, OwnerLock.take(files), null);
    }

    /** Nobody else knows the name of the directory, so it needs no lock. */
    static Surroundings temporary() throws IOException {
        Path home = Files.createTempDirectory("carillon-postgres-").toRealPath();
        return new Surroundings(new ClusterFiles(home.resolve("data")), null, home);
    }

    boolean isTemporary() {
        return thrownAway != null;
    }

    ClusterFiles files() {
        return files;
    }

    Watchdog watchdog() {
        return watchdog;
    }

    /** Lets the user who is to run the server enter a directory that was made for it. */
    void admit(RunAs runAs) throws IOException {
        if (thrownAway != null) runAs.take(thrownAway);
    }

    void atExit(Runnable stop) {
        Thread thread = new Thread(stop, "carillon-postgres-stop");
        try {
            Runtime.getRuntime().addShutdownHook(thread);
            hook = thread;
        } catch (IllegalStateException alreadyExiting) {
            stop.run();
            throw new EmbeddedPostgresException(
                    "PostgreSQL was started while the JVM exits, and is stopped again.", alreadyExiting);
        }
    }

    @Override
    public void close() throws IOException {
        removeHook();
        watchdog.close();
        try {
            if (thrownAway != null) Trees.remove(thrownAway);
        } finally {
            if (lock != null) lock.close();
        }
    }

    private void removeHook() {
        try {
            if (hook != null) Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException alreadyExiting) {
            // This is the hook.
        }
    }
}
