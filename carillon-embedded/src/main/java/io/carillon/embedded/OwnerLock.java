package io.carillon.embedded;

import io.carillon.embedded.internal.datadir.ClusterFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Reserves a data directory for one process. The kernel releases the lock when the process ends, even if it is killed.
 */
final class OwnerLock implements AutoCloseable {
    // Closing any channel of a file releases the lock of the process, so a second attempt in this process must not open
    // the file. Held locks are recorded in the system properties, because a static field exists once per class loader.
    private static final String HELD_PROPERTY_PREFIX = "carillon.embedded.held:";

    private final Path file;
    private final FileChannel channel;

    private OwnerLock(Path file, FileChannel channel) {
        this.file = file;
        this.channel = channel;
    }

    static OwnerLock acquire(ClusterFiles files) throws IOException {
        Path file = files.lock();
        if (System.getProperties().putIfAbsent(HELD_PROPERTY_PREFIX + file, "") != null)
            throw inUse(files.data(), "this process");
        boolean open = false;
        try {
            OwnerLock lock = new OwnerLock(file, open(file, files.data()));
            open = true;
            return lock;
        } finally {
            if (!open) System.getProperties().remove(HELD_PROPERTY_PREFIX + file);
        }
    }

    private static FileChannel open(Path file, Path data) throws IOException {
        FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        if (channel.tryLock() == null) {
            channel.close();
            String holder = Files.readString(file).strip();
            throw inUse(data, holder.isEmpty() ? "another process" : "process " + holder);
        }
        channel.truncate(0);
        String me = ProcessHandle.current().pid() + "\n";
        channel.write(ByteBuffer.wrap(me.getBytes(StandardCharsets.US_ASCII)), 0);
        return channel;
    }

    private static EmbeddedPostgresException inUse(Path data, String holder) {
        return new EmbeddedPostgresException(
                ("The data directory %s is in use by %s. Only one process at a time can use it. Stop that process,"
                                + " connect to its server, or choose another directory.")
                        .formatted(data, holder));
    }

    @Override
    public void close() throws IOException {
        try {
            channel.close();
        } finally {
            System.getProperties().remove(HELD_PROPERTY_PREFIX + file);
        }
    }
}
