package io.carillon.internal.postgres.migration;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * A bounded wait in short pauses. It polls, because a session that waits inside the database holds a snapshot, and
 * index builds wait for snapshots.
 */
final class RetryDeadline {
    private static final long SHORTEST_MILLIS = 40;
    private static final long LONGEST_MILLIS = 160;
    private final Duration limit;
    private long startedAt = System.nanoTime();

    RetryDeadline(Duration atMost) {
        this.limit = atMost;
    }

    /** Starts the wait again, because there was progress. */
    void restart() {
        startedAt = System.nanoTime();
    }

    boolean isExpired() {
        return System.nanoTime() - startedAt >= limit.toNanos();
    }

    /** Sleeps for a short random time, so that many waiting processes do not poll at the same time. */
    void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextLong(SHORTEST_MILLIS, LONGEST_MILLIS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CarillonException(
                    ErrorCode.STORAGE,
                    "The migration of the schema carillon was interrupted while it waited for a lock; it changed"
                            + " nothing since then. Start again.",
                    e);
        }
    }
}
