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
 * Unpacks the programs once per machine and user. Any number of processes may ask at once: one unpacks under a file lock, the others
 * wait for it, and nobody sees half a directory.
 */
final class BinaryCache {
    private static final Duration OTHER_UNPACKS = Duration.ofMinutes(5);
    // File locks hold between processes; threads of one process need this as well.
    private static final Object ONE_THREAD = new Object();

    private final Archive archive;
    private final CacheDirectories directories;
    private final Consumer<String> progress;

    BinaryCache(Archive archive, CacheDirectories directories, Consumer<String> progress) {
        this.archive = archive;
        this.directories = directories;
        this.progress = progress;
    }

    /** The programs, at the best place that the user who is to run them can enter. */
    Binaries obtain(RunAs runAs) {
        String key = archive.key();
        List<String> refusals = new ArrayList<>();
        for (Path place : directories.inOrder()) {
            try {
                requireOurs(place);
                requireReachable(place, runAs);
                Optional<Binaries> ready = Binaries.at(place.resolve(key));
                return ready.isPresent() ? ready.get() : unpackAlone(place, key);
            } catch (IOException e) {
                refusals.add(place + " (" + e + ")");
            }
        }
        throw new EmbeddedPostgresException(
                "PostgreSQL could not be unpacked to any of: %s. Set CARILLON_HOME to a directory where this user may write and run programs."
                        .formatted(String.join(", ", refusals)));
    }

    private Binaries unpackAlone(Path place, String key) throws IOException {
        if (!Files.isDirectory(place)) {
            Files.createDirectories(place);
            Trees.permit(place, "rwxr-xr-x");
        }
        synchronized (ONE_THREAD) {
            try (FileChannel lock = FileChannel.open(
                    place.resolve(key + ".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                FileLocks.waitFor(lock, OTHER_UNPACKS);
                Optional<Binaries> ready = Binaries.at(place.resolve(key));
                return ready.isPresent() ? ready.get() : unpack(place, key);
            }
        }
    }

    private Binaries unpack(Path place, String key) throws IOException {
        progress.accept("unpacking PostgreSQL " + archive.version().replaceFirst("\\.0$", ""));
        Path draft = place.resolve(key + ".unpacking");
        Path home = place.resolve(key);
        Trees.remove(draft);
        try (InputStream packed = archive.location().openStream()) {
            Unpacker.unpack(packed, draft);
            String version = askVersion(draft);
            Files.writeString(draft.resolve(Binaries.VERSION_FILE), version + "\n");
            Trees.remove(home);
            Files.move(draft, home, StandardCopyOption.ATOMIC_MOVE);
            return new Binaries(home, version);
        } finally {
            Trees.remove(draft);
        }
    }

    /** Also the proof that these programs run on this machine: not on a mount without execution, not against another C library. */
    private static String askVersion(Path home) throws IOException {
        Path answer = home.resolve(Binaries.VERSION_FILE);
        List<String> question =
                List.of(new Binaries(home, "").program("postgres").toString(), "--version");
        ProcessBuilder builder = Commands.prepare(question, home).redirectOutput(Redirect.to(answer.toFile()));
        int exit = Commands.run(builder, Duration.ofSeconds(30));
        String said = Files.readString(answer).strip();
        if (exit != 0) throw new IOException("%s ended with %d: %s".formatted(question, exit, said));
        return said.substring(said.lastIndexOf(' ') + 1);
    }

    private static void requireReachable(Path place, RunAs runAs) throws IOException {
        Path existing = place;
        while (!Files.isDirectory(existing) && existing.getParent() != null) existing = existing.getParent();
        if (!runAs.canEnter(existing)) throw new IOException("user " + runAs.user() + " cannot enter it");
    }

    /** In a directory open to all, somebody else could have laid programs ready for us to run. */
    private void requireOurs(Path place) throws IOException {
        if (Platform.WINDOWS || !place.equals(directories.shared()) || !Files.exists(place)) return;
        if (Files.isSymbolicLink(place) || Trees.owner(place) != RunAs.currentUser())
            throw new IOException("it belongs to another user");
    }
}
