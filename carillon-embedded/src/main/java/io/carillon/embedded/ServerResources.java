package io.carillon.embedded;

import io.carillon.embedded.internal.datadir.ClusterFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The resources that a server needs while its owner lives. {@link #close()} releases them. */
final class ServerResources implements AutoCloseable {
    private final ClusterFiles files;
    private final @Nullable OwnerLock lock;
    private final @Nullable Path temporaryDirectory;
    private final Watchdog watchdog;
    private @Nullable Thread hook;

    private ServerResources(ClusterFiles files, @Nullable OwnerLock lock, @Nullable Path temporaryDirectory) {
        this.files = files;
        this.lock = lock;
        this.temporaryDirectory = temporaryDirectory;
        this.watchdog = temporaryDirectory == null ? Watchdog.forKeptData() : Watchdog.forTemporary(temporaryDirectory);
    }

    static ServerResources persistent(Path data) throws IOException {
        ClusterFiles files = ClusterFiles.of(data);
        return new ServerResources(files, OwnerLock.acquire(files), null);
    }

    /** A temporary directory needs no lock, because no other process knows its name. */
    static ServerResources temporary() throws IOException {
        Path home = Files.createTempDirectory("carillon-postgres-").toRealPath();
        return new ServerResources(new ClusterFiles(home.resolve("data")), null, home);
    }

    boolean isTemporary() {
        return temporaryDirectory != null;
    }

    ClusterFiles files() {
        return files;
    }

    Watchdog watchdog() {
        return watchdog;
    }

    /** Gives the user of the server access to the temporary directory. */
    void grantAccess(RunAs runAs) throws IOException {
        if (temporaryDirectory != null) runAs.takeOwnership(temporaryDirectory);
    }

    void addShutdownHook(Runnable stop) {
        Thread thread = new Thread(stop, "carillon-postgres-stop");
        try {
            Runtime.getRuntime().addShutdownHook(thread);
            hook = thread;
        } catch (IllegalStateException alreadyExiting) {
            stop.run();
            throw new EmbeddedPostgresException(
                    "PostgreSQL was started while the JVM exits, so it was stopped again.", alreadyExiting);
        }
    }

    @Override
    public void close() throws IOException {
        removeHook();
        watchdog.close();
        try {
            if (temporaryDirectory != null) DirectoryTrees.remove(temporaryDirectory);
        } finally {
            if (lock != null) lock.close();
        }
    }

    private void removeHook() {
        try {
            if (hook != null) Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException alreadyExiting) {
            // This method was called by the hook itself.
        }
    }
}
