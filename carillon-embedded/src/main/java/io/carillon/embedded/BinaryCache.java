package io.carillon.embedded;

import java.io.IOException;
import java.io.InputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Unpacks the binaries once per machine and user. Several processes may request them concurrently: one of them unpacks
 * under a file lock and the others wait, so that no process uses an incomplete directory.
 */
final class BinaryCache {
    private static final Duration UNPACK_TIMEOUT = Duration.ofMinutes(5);
    // File locks work between processes; the threads of one process need this lock as well.
    private static final Object UNPACK_LOCK = new Object();

    private final Archive archive;
    private final CacheDirectories directories;
    private final Consumer<String> progress;

    BinaryCache(Archive archive, CacheDirectories directories, Consumer<String> progress) {
        this.archive = archive;
        this.directories = directories;
        this.progress = progress;
    }

    /** Returns the binaries in the first cache directory that the user of the server can access. */
    Binaries obtain(RunAs runAs) {
        String key = archive.key();
        List<String> refusals = new ArrayList<>();
        for (Path directory : directories.inOrder()) {
            try {
                requireOwnDirectory(directory);
                requireReachable(directory, runAs);
                Optional<Binaries> ready = Binaries.at(directory.resolve(key));
                return ready.isPresent() ? ready.get() : unpackLocked(directory, key);
            } catch (IOException e) {
                refusals.add(directory + " (" + e + ")");
            }
        }
        throw new EmbeddedPostgresException(
                ("PostgreSQL could not be unpacked to any of these directories: %s. Set CARILLON_HOME to a directory"
                                + " in which this user can write and execute programs.")
                        .formatted(String.join(", ", refusals)));
    }

    private Binaries unpackLocked(Path directory, String key) throws IOException {
        if (!Files.isDirectory(directory)) {
            Files.createDirectories(directory);
            DirectoryTrees.setPermissions(directory, "rwxr-xr-x");
        }
        synchronized (UNPACK_LOCK) {
            try (FileChannel lock = FileChannel.open(
                    directory.resolve(key + ".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                FileLocks.waitFor(lock, UNPACK_TIMEOUT);
                Optional<Binaries> ready = Binaries.at(directory.resolve(key));
                return ready.isPresent() ? ready.get() : unpack(directory, key);
            }
        }
    }

    private Binaries unpack(Path directory, String key) throws IOException {
        progress.accept("unpacking PostgreSQL " + archive.version().replaceFirst("\\.0$", ""));
        Path draft = directory.resolve(key + ".unpacking");
        Path home = directory.resolve(key);
        DirectoryTrees.remove(draft);
        try (InputStream packed = archive.location().openStream()) {
            Unpacker.unpack(packed, draft);
            String version = askVersion(draft);
            Files.writeString(draft.resolve(Binaries.VERSION_FILE), version + "\n");
            DirectoryTrees.remove(home);
            Files.move(draft, home, StandardCopyOption.ATOMIC_MOVE);
            return new Binaries(home, version);
        } finally {
            DirectoryTrees.remove(draft);
        }
    }

    /**
     * Returns the version that the binaries report. This also verifies that they run on this machine, which fails on a
     * file system mounted with noexec or with another C library.
     */
    private static String askVersion(Path home) throws IOException {
        Path answer = home.resolve(Binaries.VERSION_FILE);
        List<String> question =
                List.of(new Binaries(home, "").program("postgres").toString(), "--version");
        ProcessBuilder builder = Commands.prepare(question, home).redirectOutput(Redirect.to(answer.toFile()));
        int exit = Commands.run(builder, Duration.ofSeconds(30));
        String said = Files.readString(answer).strip();
        if (exit != 0) throw new IOException("%s exited with code %d: %s".formatted(question, exit, said));
        return said.substring(said.lastIndexOf(' ') + 1);
    }

    private static void requireReachable(Path directory, RunAs runAs) throws IOException {
        Path existing = directory;
        while (!Files.isDirectory(existing) && existing.getParent() != null) existing = existing.getParent();
        if (!runAs.canEnter(existing)) throw new IOException("user " + runAs.user() + " cannot access it");
    }

    /** Rejects a shared directory of another user, who could have placed other programs there. */
    private void requireOwnDirectory(Path directory) throws IOException {
        if (Platform.WINDOWS || !directory.equals(directories.shared()) || !Files.exists(directory)) return;
        if (Files.isSymbolicLink(directory) || DirectoryTrees.owner(directory) != RunAs.currentUser())
            throw new IOException("it is owned by another user");
    }
}
