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

    ClusterRemoval(ClusterFiles files) {
        this.files = files;
    }

    /** Deletes the password last: while it exists, a removal that was interrupted can be repeated. */
    List<Path> run() throws IOException {
        List<Path> deleted = new ArrayList<>();
        Path data = files.data();
        if (Files.isDirectory(data) && !DirectoryTrees.isEmpty(data)) {
            requireOwnCluster();
            requireStopped();
            DirectoryTrees.removeContents(data);
            deleted.add(data);
        }
        for (Path file : List.of(files.log(), files.passwordDraft(), files.password())) {
            if (Files.deleteIfExists(file)) deleted.add(file);
        }
        return deleted;
    }

    /** Rejects a cluster or other files of the user: each cluster of ours has a password file beside it. */
    private void requireOwnCluster() {
        if (!Files.exists(files.password()) && !Files.exists(files.passwordDraft()))
            throw new EmbeddedPostgresException(
                    "%s was not created by an embedded PostgreSQL: there is no %s. Nothing was deleted."
                            .formatted(files.data(), files.password()));
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
