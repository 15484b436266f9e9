package io.carillon.embedded;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A data directory and the files beside it that share its name: {@code postgres}, {@code postgres.password},
 * {@code postgres.log}.
 */
record ClusterFiles(Path data) {

    /** Resolves a path to its canonical form, so that two paths to the same directory use the same lock. */
    static ClusterFiles of(Path given) throws IOException {
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

    Path parent() {
        return data.resolveSibling("").toAbsolutePath();
    }

    /** Returns the password file. Only its owner can read it. It is moved into place after the cluster was created. */
    Path password() {
        return beside(".password");
    }

    /** Returns the password file that exists while the cluster is being created. */
    Path passwordDraft() {
        return beside(".password.new");
    }

    Path log() {
        return beside(".log");
    }

    Path lock() {
        return beside(".lock");
    }

    private Path beside(String suffix) {
        return data.resolveSibling(data.getFileName() + suffix);
    }
}
