package io.carillon.embedded;

import io.carillon.embedded.internal.datadir.ClusterFiles;
import io.carillon.embedded.internal.datadir.PostmasterFile;
import io.carillon.embedded.internal.datadir.Processes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Deletes a data directory and the files beside it. Only the holder of the {@link OwnerLock} may use it. */
final class ClusterRemoval {
    private final ClusterFiles files;
    private final List<Path> callerFiles;

    /** {@code callerFiles}: files of the caller that belong to the cluster and are deleted with it. */
    ClusterRemoval(ClusterFiles files, List<Path> callerFiles) {
        this.files = files;
        this.callerFiles = callerFiles;
    }

    /**
     * Deletes the password last: while it exists, a removal that was interrupted can be repeated. Deletes nothing if
     * there is no password, because then the files belong to the user.
     */
    List<Path> run() throws IOException {
        List<Path> deleted = new ArrayList<>();
        Path data = files.data();
        boolean hasData = Files.isDirectory(data) && !DirectoryTrees.isEmpty(data);
        if (!Files.exists(files.password()) && !Files.exists(files.passwordDraft())) {
            if (!hasData) return deleted;
            throw new EmbeddedPostgresException(
                    "%s was not created by an embedded PostgreSQL: there is no %s. Nothing was deleted."
                            .formatted(data, files.password()));
        }
        if (hasData) {
            requireStopped();
            DirectoryTrees.removeContents(data);
            deleted.add(data);
        }
        List<Path> rest = new ArrayList<>(callerFiles);
        rest.addAll(List.of(files.log(), files.passwordDraft(), files.password()));
        for (Path file : rest) {
            if (Files.deleteIfExists(file)) deleted.add(file);
        }
        return deleted;
    }

    /** A server can outlive its owner. If the operating system hides its directory, a running process counts as it. */
    private void requireStopped() throws IOException {
        Optional<PostmasterFile> file = PostmasterFile.read(files.data());
        if (file.isEmpty()) return;
        long pid = file.get().pid();
        if (Processes.isServerOf(pid, files.data()).orElse(true))
            throw new EmbeddedPostgresException(
                    "PostgreSQL with process id %d runs on %s. Nothing was deleted. Stop it and try again."
                            .formatted(pid, files.data()));
    }
}
