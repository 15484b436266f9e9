package io.carillon.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Deletes the files of a benchmark. */
final class DataCleanup {
    private DataCleanup() {}

    /** Deletes the database directory, and the password, the log and the lock file beside it. */
    static void delete(Path data) throws IOException {
        for (Path path : List.of(data, Path.of(data + ".password"), Path.of(data + ".log"), Path.of(data + ".lock")))
            deleteTree(path);
    }

    private static void deleteTree(Path path) throws IOException {
        if (!Files.exists(path)) return;
        try (Stream<Path> all = Files.walk(path)) {
            for (Path one : all.sorted(Comparator.reverseOrder()).toList()) Files.deleteIfExists(one);
        }
    }
}
