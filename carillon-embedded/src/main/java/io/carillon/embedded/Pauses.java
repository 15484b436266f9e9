package io.carillon.embedded;

import java.time.Duration;

/** Waits between two looks at something that cannot call back: a file, a lock, another process. */
final class Pauses {
    private Pauses() {}

    static void pause(Duration pause) {
        try {
            Thread.sleep(pause.toMillis());
        } catch (InterruptedException e) {
            throw EmbeddedPostgresException.interrupted("waiting for PostgreSQL", e);
        }
    }

    /** For the way out: what was begun to end is ended also for an interrupted thread, which stays interrupted. */
    static void pauseRegardless(Duration pause) {
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
