package io.carillon.postgres.migration;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** A bounded wait in short pauses. Polling, because a session that waits inside the database holds a snapshot, and index builds wait for those. */
final class Patience {
    private static final long SHORTEST_MILLIS = 40;
    private static final long LONGEST_MILLIS = 160;
    private final Duration atMost;
    private long since = System.nanoTime();

    Patience(Duration atMost) {
        this.atMost = atMost;
    }

    /** Starts the wait anew, because something moved. */
    void renew() {
        since = System.nanoTime();
    }

    /** Whether the wait is over. */
    boolean exhausted() {
        return System.nanoTime() - since >= atMost.toNanos();
    }

    /** One short pause, of random length so that many waiting processes do not ask in step. */
    void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextLong(SHORTEST_MILLIS, LONGEST_MILLIS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CarillonException(
                    ErrorCode.STORAGE,
                    "The migration of the schema carillon was interrupted while it waited for its turn; it changed nothing since. Start again.",
                    e);
        }
    }
}
