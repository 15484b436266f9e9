package io.carillon.embedded;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Keeps a data directory to one living process. The kernel gives the lock back when that process dies, however it dies. */
final class OwnerLock implements AutoCloseable {
    // Closing any channel of a file drops the process's lock on it: a second asker in this process must not even open
    // the file. What is held is noted in the system properties, because a static note exists once per class loader.
    private static final String HELD = "carillon.embedded.held:";

    private final Path file;
    private final FileChannel channel;

    private OwnerLock(Path file, FileChannel channel) {
        this.file = file;
        this.channel = channel;
    }

    static OwnerLock take(ClusterFiles files) throws IOException {
        Path file = files.lock();
        if (System.getProperties().putIfAbsent(HELD + file, "") != null) throw taken(files.data(), "this process");
        boolean open = false;
        try {
            OwnerLock lock = new OwnerLock(file, open(file, files.data()));
            open = true;
            return lock;
        } finally {
            if (!open) System.getProperties().remove(HELD + file);
        }
    }

    private static FileChannel open(Path file, Path data) throws IOException {
        FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        if (channel.tryLock() == null) {
            channel.close();
            String holder = Files.readString(file).strip();
            throw taken(data, holder.isEmpty() ? "another process" : "process " + holder);
        }
        channel.truncate(0);
        String me = ProcessHandle.current().pid() + "\n";
        channel.write(ByteBuffer.wrap(me.getBytes(StandardCharsets.US_ASCII)), 0);
        return channel;
    }

    private static EmbeddedPostgresException taken(Path data, String holder) {
        return new EmbeddedPostgresException(
                "The data directory %s is in use by %s. One process at a time may own it: stop that one, connect to its server instead, or choose another directory."
                        .formatted(data, holder));
    }

    @Override
    public void close() throws IOException {
        try {
            channel.close();
        } finally {
            System.getProperties().remove(HELD + file);
        }
    }
}
