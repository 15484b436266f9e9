package io.carillon.embedded;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Operations on whole directory trees: remove, empty, change the owner. Symbolic links are not followed. */
final class DirectoryTrees {
    private DirectoryTrees() {}

    static boolean isEmpty(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.findAny().isEmpty();
        }
    }

    static void remove(Path root) throws IOException {
        if (!Files.exists(root, LinkOption.NOFOLLOW_LINKS)) return;
        removeContents(root);
        Files.deleteIfExists(root);
    }

    /** Removes the contents of a directory and keeps the directory, which may be a mount point or a link. */
    static void removeContents(Path directory) throws IOException {
        Files.walkFileTree(directory, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException failure) throws IOException {
                if (failure != null) throw failure;
                if (!visited.equals(directory)) Files.deleteIfExists(visited);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    /** Moves all entries to a directory on the same file system, and removes the empty source directory. */
    static void moveContents(Path from, Path to) throws IOException {
        try (Stream<Path> entries = Files.list(from)) {
            for (Path entry : (Iterable<Path>) entries::iterator) Files.move(entry, to.resolve(entry.getFileName()));
        }
        Files.delete(from);
    }

    static int owner(Path path) throws IOException {
        return (Integer) Files.getAttribute(path, "unix:uid");
    }

    static int group(Path path) throws IOException {
        return (Integer) Files.getAttribute(path, "unix:gid");
    }

    /** Changes the owner of a tree like {@code chown -R}. Only root may do this. */
    static void changeOwner(Path root, int user, int group) throws IOException {
        try (Stream<Path> all = Files.walk(root)) {
            for (Path path : (Iterable<Path>) all::iterator) {
                Files.setAttribute(path, "unix:uid", user, LinkOption.NOFOLLOW_LINKS);
                Files.setAttribute(path, "unix:gid", group, LinkOption.NOFOLLOW_LINKS);
            }
        }
    }

    static void setPermissions(Path path, String permissions) throws IOException {
        if (!Platform.WINDOWS) Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(permissions));
    }
}
