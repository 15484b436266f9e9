package io.carillon.embedded;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** The unpacked PostgreSQL binaries. Their directory is created atomically. */
record Binaries(Path home, String version) {
    static final String VERSION_FILE = "version";

    static Optional<Binaries> at(Path home) throws IOException {
        Path version = home.resolve(VERSION_FILE);
        return Files.isRegularFile(version)
                ? Optional.of(new Binaries(home, Files.readString(version).strip()))
                : Optional.empty();
    }

    Path program(String name) {
        return home.resolve("bin").resolve(Platform.WINDOWS ? name + ".exe" : name);
    }

    /** Returns the major version, which must match the version of a data directory. */
    String major() {
        return version.replaceFirst("\\D.*", "");
    }
}
