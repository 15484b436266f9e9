package io.carillon.internal.value;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/** Checks the permissions of files that contain secrets. */
public final class PrivateFiles {
    private static final Set<PosixFilePermission> PERMISSIONS_OF_OTHERS = EnumSet.of(
            PosixFilePermission.GROUP_READ,
            PosixFilePermission.GROUP_WRITE,
            PosixFilePermission.OTHERS_READ,
            PosixFilePermission.OTHERS_WRITE);

    private PrivateFiles() {}

    /**
     * Returns whether users other than the owner can read or write the file. The group may read a file of root, as for
     * the key files of PostgreSQL: containers receive secrets in this way. Always false for pipes and terminals, and
     * where the file system has no such permissions.
     */
    public static boolean isOpenToOthers(Path file) throws IOException {
        if (!Files.isRegularFile(file)
                || !file.getFileSystem().supportedFileAttributeViews().contains("unix")) return false;
        Set<PosixFilePermission> open = EnumSet.copyOf(PERMISSIONS_OF_OTHERS);
        boolean sharedByRoot = Integer.valueOf(0).equals(Files.getAttribute(file, "unix:uid"))
                && !"root".equals(System.getProperty("user.name"));
        if (sharedByRoot) open.remove(PosixFilePermission.GROUP_READ);
        return !Collections.disjoint(Files.getPosixFilePermissions(file), open);
    }
}
