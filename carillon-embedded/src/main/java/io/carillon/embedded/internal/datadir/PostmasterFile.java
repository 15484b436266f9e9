package io.carillon.embedded.internal.datadir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The file {@code postmaster.pid} of a running server. */
public record PostmasterFile(long pid, int port, boolean ready) {

    public static Path in(Path data) {
        return data.resolve("postmaster.pid");
    }

    /** Reads the file; empty if there is no file or it is incomplete. */
    public static Optional<PostmasterFile> read(Path data) throws IOException {
        try {
            return parse(Files.readAllLines(in(data)));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
    }

    static Optional<PostmasterFile> parse(List<String> lines) {
        try {
            if (lines.isEmpty()) return Optional.empty();
            // A negative number is a server in single-user mode.
            long pid = Math.abs(Long.parseLong(lines.get(0).strip()));
            int port = lines.size() > 3 ? Integer.parseInt(lines.get(3).strip()) : 0;
            return Optional.of(new PostmasterFile(
                    pid, port, lines.size() > 7 && lines.get(7).strip().equals("ready")));
        } catch (NumberFormatException halfWritten) {
            return Optional.empty();
        }
    }
}
