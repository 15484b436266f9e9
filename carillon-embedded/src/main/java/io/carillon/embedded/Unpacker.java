package io.carillon.embedded;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.tukaani.xz.XZInputStream;

/** Unpacks a {@code .txz} archive to a directory, readable by all users independent of the umask. */
final class Unpacker {
    private static final int READ_AHEAD = 1 << 18;

    private Unpacker() {}

    static void unpack(InputStream packed, Path into) throws IOException {
        directory(into);
        try (TarArchiveInputStream tar =
                new TarArchiveInputStream(new XZInputStream(new BufferedInputStream(packed, READ_AHEAD)))) {
            for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
                Path target = into.resolve(entry.getName()).normalize();
                if (!target.startsWith(into))
                    throw new IOException("archive entry is outside the target directory: " + entry.getName());
                write(tar, entry, target, into);
            }
        }
    }

    private static void write(TarArchiveInputStream tar, TarArchiveEntry entry, Path target, Path into)
            throws IOException {
        if (entry.isDirectory()) {
            directory(target);
            return;
        }
        if (target.getParent() != null && !Files.isDirectory(target.getParent())) directory(target.getParent());
        if (entry.isSymbolicLink()) {
            Files.createSymbolicLink(target, Path.of(entry.getLinkName()));
        } else if (entry.isLink()) {
            Files.createLink(target, into.resolve(entry.getLinkName()));
        } else {
            Files.copy(tar, target);
            DirectoryTrees.setPermissions(target, (entry.getMode() & 0100) != 0 ? "rwxr-xr-x" : "rw-r--r--");
        }
    }

    private static void directory(Path path) throws IOException {
        Files.createDirectories(path);
        DirectoryTrees.setPermissions(path, "rwxr-xr-x");
    }
}
