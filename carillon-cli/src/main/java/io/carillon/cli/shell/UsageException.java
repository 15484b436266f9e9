package io.carillon.cli.shell;

import org.jspecify.annotations.Nullable;

/** The caller asked for something that cannot be: the message says what, which, and what to write instead. Ends with exit code 2. */
public final class UsageException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public UsageException(String message) {
        this(message, null);
    }

    public UsageException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
