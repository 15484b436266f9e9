package io.carillon.internal.postgres.migration;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The migrations of this version. An index file lists them, because a directory inside a jar cannot
 * be listed everywhere.
 */
final class MigrationFiles {
    private static final String INDEX = "index.txt";

    private MigrationFiles() {}

    /** Returns all files in order, numbered from 1 without gaps. */
    static List<Migration> load() {
        List<Migration> files = new ArrayList<>();
        for (String name : read(INDEX).lines().filter(line -> !line.isBlank()).toList()) {
            Migration file = Migration.parse(name, read(name));
            if (file.number() != files.size() + 1) {
                throw new IllegalStateException("Migration '%s' is entry %d of %s; its number must be the same"
                        .formatted(name, files.size() + 1, INDEX));
            }
            files.add(file);
        }
        return List.copyOf(files);
    }

    private static String read(String name) {
        try (InputStream in =
                MigrationFiles.class.getResourceAsStream("/io/carillon/internal/postgres/migrations/" + name)) {
            if (in == null) {
                throw new IllegalStateException(
                        "Migration '%s' is listed in %s but missing: the jar is incomplete".formatted(name, INDEX));
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("Migration '%s' cannot be read".formatted(name), e);
        }
    }
}
