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

/** Files that hold a secret: read without the newline at their end, written so that nobody but their owner can read them. */
public final class Secrets {
    private static final Set<PosixFilePermission> OF_OTHERS = EnumSet.of(
            PosixFilePermission.GROUP_READ,
            PosixFilePermission.GROUP_WRITE,
            PosixFilePermission.OTHERS_READ,
            PosixFilePermission.OTHERS_WRITE);
    private static final boolean POSIX =
            FileSystems.getDefault().supportedFileAttributeViews().contains("posix");

    private Secrets() {}

    /** What a file named by an option or a variable holds; a hyphen is standard input. */
    public static String read(String what, String file) {
        try {
            String text = file.equals("-")
                    ? new String(System.in.readAllBytes(), StandardCharsets.UTF_8)
                    : Files.readString(DataHome.absolute(what, file));
            if (text.isBlank()) throw new UsageException("%s names %s, which is empty.".formatted(what, file));
            return text.strip();
        } catch (NoSuchFileException missing) {
            throw new UsageException("%s names %s, which is not there.".formatted(what, file), missing);
        } catch (IOException unreadable) {
            throw new UsageException(
                    "%s names %s, which cannot be read: %s.".formatted(what, file, unreadable.getMessage()),
                    unreadable);
        }
    }

    /** Refuses a file that others on this machine can read. */
    public static void refuseOpen(Path file) throws IOException {
        if (POSIX && Files.getPosixFilePermissions(file).stream().anyMatch(OF_OTHERS::contains))
            throw new UsageException(
                    "%s holds keys, and others can read it. Run 'chmod 600 %s', and rotate the keys in it if others may have."
                            .formatted(file, file));
    }

    /** Puts the text in place at once, or leaves what was there. */
    public static void write(Path file, String text) {
        try {
            Path folder = file.toAbsolutePath().getParent();
            if (folder != null) Files.createDirectories(folder);
            Path fresh = folder == null
                    ? Files.createTempFile(".carillon", "", mode())
                    : Files.createTempFile(folder, ".carillon", "", mode());
            Files.writeString(fresh, text);
            Files.move(fresh, file, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException failure) {
            throw new UsageException("%s cannot be written: %s.".formatted(file, failure), failure);
        }
    }

    private static FileAttribute<?>[] mode() {
        return POSIX
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
                }
                : new FileAttribute<?>[0];
    }
}
