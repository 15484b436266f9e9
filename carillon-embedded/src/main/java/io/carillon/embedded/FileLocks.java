package io.carillon.embedded;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.time.Duration;

/** Waits for file locks, including those that other class loaders of this process hold. */
final class FileLocks {
    private FileLocks() {}

    static void waitFor(FileChannel channel, Duration limit) throws IOException {
        long deadline = System.nanoTime() + limit.toNanos();
        while (!tryLock(channel)) {
            if (System.nanoTime() - deadline > 0) throw new IOException("another process held its lock for " + limit);
            Pauses.pause(Duration.ofMillis(20));
        }
    }

    private static boolean tryLock(FileChannel channel) throws IOException {
        try {
            return channel.tryLock() != null;
        } catch (OverlappingFileLockException heldByAnotherClassLoader) {
            return false;
        }
    }
}
