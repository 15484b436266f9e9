package io.carillon.cli.shell;

import io.carillon.internal.value.PrivateFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.CopyOption;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Files that contain a secret. They are read without the newline at the end, only if no other user can access them, and
 * written so that only the owner can read them.
 */
public final class SecretFiles {
    private static final boolean POSIX =
            FileSystems.getDefault().supportedFileAttributeViews().contains("posix");

    private SecretFiles() {}

    /**
     * Returns the secret in a file that an option or a variable names; a hyphen means standard input. A file that other
     * users can access is refused.
     *
     * @param what the option or variable, for messages
     */
    public static String read(String what, String file) {
        if (!file.equals("-")) refuseOpen(what, DataDirectory.absolutePath(what, file));
        return readText(what, file);
    }

    private static void refuseOpen(String what, Path file) {
        try {
            if (PrivateFiles.isOpenToOthers(file))
                throw new UsageException(
                        ("%s names %s, which contains a secret, and other users can access it. Run 'chmod 600 %s', and "
                                        + "change the secret if another user may have read it.")
                                .formatted(what, file, file));
        } catch (IOException unreadable) {
            throw new UsageException(
                    "%s names %s, which cannot be read: %s.".formatted(what, file, unreadable.getMessage()),
                    unreadable);
        }
    }

    /**
     * Returns the content of a file without a secret, such as a payload; a hyphen means standard input.
     *
     * @param what the option or variable, for messages
     */
    public static String readText(String what, String file) {
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
        if (PrivateFiles.isOpenToOthers(file))
            throw new UsageException(
                    ("%s contains API keys, and other users can access it. Run 'chmod 600 %s', and rotate the "
                                    + "keys if another user may have read them.")
                            .formatted(file, file));
    }

    /** Replaces the file atomically. If the write fails, the old content stays. */
    public static void write(Path file, String text) {
        move(file, text, StandardCopyOption.REPLACE_EXISTING);
    }

    /** Creates the file. Throws if it exists: it may contain a secret that is stored nowhere else. */
    public static void writeNew(Path file, String text) {
        if (Files.exists(file))
            throw new UsageException("%s already exists. Move it away, or choose another file.".formatted(file));
        move(file, text);
    }

    /** Creates a directory that only its owner can access. A directory that exists stays as it is. */
    public static void createDirectory(Path directory) throws IOException {
        Path parent = directory.toAbsolutePath().getParent();
        if (parent != null) Files.createDirectories(parent);
        try {
            Files.createDirectory(directory, ownerOnly("rwx------"));
        } catch (FileAlreadyExistsException exists) {
            if (!Files.isDirectory(directory)) throw exists;
        }
    }

    /** Takes the permissions on a directory from all users but its owner. */
    public static void restrictDirectory(Path directory) throws IOException {
        if (POSIX) Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
    }

    /** Writes another file first, and moves it to its place. */
    private static void move(Path file, String text, CopyOption... options) {
        try {
            Path folder = file.toAbsolutePath().getParent();
            if (folder != null) Files.createDirectories(folder);
            Path fresh = folder == null
                    ? Files.createTempFile(".carillon", "", ownerOnly("rw-------"))
                    : Files.createTempFile(folder, ".carillon", "", ownerOnly("rw-------"));
            Files.writeString(fresh, text);
            Files.move(fresh, file, options);
        } catch (IOException failure) {
            throw new UsageException("%s cannot be written: %s.".formatted(file, failure), failure);
        }
    }

    private static FileAttribute<?>[] ownerOnly(String permissions) {
        return POSIX
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
                }
                : new FileAttribute<?>[0];
    }
}
