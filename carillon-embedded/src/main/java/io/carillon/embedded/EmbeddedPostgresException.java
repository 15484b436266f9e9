package io.carillon.embedded;

/**
 * Thrown if PostgreSQL cannot be unpacked, created, started or stopped. The message names the directory and the action
 * to take.
 */
public final class EmbeddedPostgresException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    EmbeddedPostgresException(String message) {
        super(message);
    }

    EmbeddedPostgresException(String message, Throwable cause) {
        super(message, cause);
    }

    static EmbeddedPostgresException interrupted(String during, InterruptedException cause) {
        Thread.currentThread().interrupt();
        return new EmbeddedPostgresException("Interrupted while " + during + ".", cause);
    }
}
