package io.carillon.embedded.internal.datadir;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;

/** The log file of all PostgreSQL programs. Its last lines are included in error messages. */
public record LogFile(Path path) {
    private static final long ROTATE_AT = 16L << 20;
    private static final int LINES_IN_ERRORS = 15;
    private static final int TAIL_BYTES = 1 << 15;

    /** Rotates the log and keeps one old file. */
    public void rotate() throws IOException {
        if (length() > ROTATE_AT)
            Files.move(path, path.resolveSibling(path.getFileName() + ".1"), StandardCopyOption.REPLACE_EXISTING);
    }

    public Redirect append() {
        return Redirect.appendTo(path.toFile());
    }

    public long length() throws IOException {
        return Files.exists(path) ? Files.size(path) : 0;
    }

    /** Returns the text written after this position, at most the last {@value #TAIL_BYTES} bytes. */
    public String since(long mark) throws IOException {
        long length = length();
        long from = Math.max(mark, length - TAIL_BYTES);
        if (length <= from) return "";
        try (SeekableByteChannel channel = Files.newByteChannel(path)) {
            ByteBuffer bytes = ByteBuffer.allocate((int) (length - from));
            channel.position(from);
            while (bytes.hasRemaining() && channel.read(bytes) >= 0) {}
            return new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8);
        }
    }

    public String lastLinesSince(long mark) throws IOException {
        List<String> lines = since(mark).lines().toList();
        return "Last lines of %s:%n%s"
                .formatted(
                        path,
                        String.join("\n", lines.subList(Math.max(0, lines.size() - LINES_IN_ERRORS), lines.size())));
    }
}
