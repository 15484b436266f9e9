package io.carillon.embedded;

import java.time.Duration;

/** Waits between two checks of a file, a lock or another process. */
final class Pauses {
    private Pauses() {}

    static void pause(Duration pause) {
        try {
            Thread.sleep(pause.toMillis());
        } catch (InterruptedException e) {
            throw EmbeddedPostgresException.interrupted("waiting for PostgreSQL", e);
        }
    }

    /** Waits even if the thread is interrupted, so that a shutdown completes. The interrupt status is preserved. */
    static void pauseUninterruptibly(Duration pause) {
        boolean interrupted = Thread.interrupted();
        try {
            Thread.sleep(pause.toMillis());
        } catch (InterruptedException e) {
            interrupted = true;
        } finally {
            if (interrupted) Thread.currentThread().interrupt();
        }
    }
}
