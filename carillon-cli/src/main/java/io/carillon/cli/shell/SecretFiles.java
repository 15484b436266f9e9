package io.carillon.cli.shell;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;

/**
 * Files that contain a secret. They are read without the newline at the end, and written so that only the owner can
 * read them.
 */
public final class SecretFiles {
    private static final Set<PosixFilePermission> PERMISSIONS_OF_OTHERS = EnumSet.of(
            PosixFilePermission.GROUP_READ,
            PosixFilePermission.GROUP_WRITE,
            PosixFilePermission.OTHERS_READ,
            PosixFilePermission.OTHERS_WRITE);
    private static final boolean POSIX =
            FileSystems.getDefault().supportedFileAttributeViews().contains("posix");

    private SecretFiles() {}

    /**
     * Returns the content of a file that an option or a variable names; a hyphen means standard input.
     *
     * @param what the option or variable, for messages
     */
    public static String read(String what, String file) {
        try {
            String text = file.equals("-")
                    ? new String(System.in.readAllBytes(), StandardCharsets.UTF_8)
                    : Files.readString(DataDirectory.absolutePath(what, file));
            if (text.isBlank()) throw new UsageException("%s names %s, which is empty.".formatted(what, file));
            return text.strip();
        } catch (NoSuchFileException missing) {
            throw new UsageException("%s names %s, which does not exist.".formatted(what, file), missing);
        } catch (IOException unreadable) {
            throw new UsageException(
                    "%s names %s, which cannot be read: %s.".formatted(what, file, unreadable.getMessage()),
                    unreadable);
        }
    }

    /** Throws if other users of this machine can access the file. */
    public static void refuseReadableByOthers(Path file) throws IOException {
        if (POSIX && Files.getPosixFilePermissions(file).stream().anyMatch(PERMISSIONS_OF_OTHERS::contains))
            throw new UsageException(
                    ("%s contains API keys, and other users can access it. Run 'chmod 600 %s', and rotate the "
                                    + "keys if another user may have read them.")
                            .formatted(file, file));
    }

    /** Replaces the file atomically. If the write fails, the old content stays. */
    public static void write(Path file, String text) {
        try {
            Path folder = file.toAbsolutePath().getParent();
            if (folder != null) Files.createDirectories(folder);
            Path fresh = folder == null
                    ? Files.createTempFile(".carillon", "", ownerOnly())
                    : Files.createTempFile(folder, ".carillon", "", ownerOnly());
            Files.writeString(fresh, text);
            Files.move(fresh, file, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException failure) {
            throw new UsageException("%s cannot be written: %s.".formatted(file, failure), failure);
        }
    }

    private static FileAttribute<?>[] ownerOnly() {
        return POSIX
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
                }
                : new FileAttribute<?>[0];
    }
}
