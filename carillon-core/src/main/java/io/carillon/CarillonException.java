package io.carillon;

import org.jspecify.annotations.Nullable;

/**
 * The exception of Carillon for everything except a cron expression that cannot be parsed, which is a {@link
 * CronSyntaxException}. {@link #code()} is stable for programs. The message says what is wrong, with the value, and
 * what to do.
 */
public class CarillonException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final ErrorCode code;

    public CarillonException(ErrorCode code, String message) {
        this(code, message, null);
    }

    public CarillonException(ErrorCode code, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    /** Returns the error code for programs. */
    public ErrorCode code() {
        return code;
    }
}
