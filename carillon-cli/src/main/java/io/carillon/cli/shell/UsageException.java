package io.carillon.cli.shell;

import org.jspecify.annotations.Nullable;

/** An invalid command line or setting. The message states what is wrong and what is allowed. The exit code is 2. */
public final class UsageException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public UsageException(String message) {
        this(message, null);
    }

    public UsageException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
