package io.carillon.embedded.internal.datadir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A data directory and the files beside it that share its name: {@code postgres}, {@code postgres.password},
 * {@code postgres.log}.
 */
public record ClusterFiles(Path data) {

    /** Resolves a path to its canonical form, so that two paths to the same directory use the same lock. */
    public static ClusterFiles of(Path given) throws IOException {
        Path absolute = given.toAbsolutePath().normalize();
        Path parent = absolute.getParent();
        if (parent == null)
            throw new IllegalArgumentException(given + " cannot be a data directory. Choose a directory below it.");
        Files.createDirectories(parent);
        return new ClusterFiles(
                Files.exists(absolute)
                        ? absolute.toRealPath()
                        : parent.toRealPath().resolve(absolute.getFileName()));
    }

    public Path parent() {
        return data.resolveSibling("").toAbsolutePath();
    }

    /** Returns the password file. Only its owner can read it. It is moved into place after the cluster was created. */
    public Path password() {
        return beside(".password");
    }

    /** Returns the password file that exists while the cluster is being created. */
    public Path passwordDraft() {
        return beside(".password.new");
    }

    public Path log() {
        return beside(".log");
    }

    public Path lock() {
        return beside(".lock");
    }

    private Path beside(String suffix) {
        return data.resolveSibling(data.getFileName() + suffix);
    }
}
