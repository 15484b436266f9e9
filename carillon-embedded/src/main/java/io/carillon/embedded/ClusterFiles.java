package io.carillon.embedded;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A data directory and the files that lie beside it under its name: {@code postgres}, {@code postgres.password}, {@code postgres.log}. */
record ClusterFiles(Path data) {

    /** Settles on one spelling of the path, so that two names of one directory meet at one lock. */
    static ClusterFiles of(Path given) throws IOException {
        Path absolute = given.toAbsolutePath().normalize();
        Path parent = absolute.getParent();
        if (parent == null)
            throw new IllegalArgumentException(given + " cannot be a data directory: choose a directory below it.");
        Files.createDirectories(parent);
        return new ClusterFiles(
                Files.exists(absolute)
                        ? absolute.toRealPath()
                        : parent.toRealPath().resolve(absolute.getFileName()));
    }

    Path parent() {
        return data.resolveSibling("").toAbsolutePath();
    }

    /** Readable by the owner alone; moved into place when the cluster was created to its end. */
    Path password() {
        return beside(".password");
    }

    /** Present while the cluster is being created. */
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
