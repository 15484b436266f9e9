package io.carillon.cli.shell;

import org.jspecify.annotations.Nullable;

/** A command that failed. The message states the cause and the remedy; the exit code states the kind of failure. */
public final class CommandException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int exitCode;

    public CommandException(int exit, String message) {
        this(exit, message, null);
    }

    public CommandException(int exit, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.exitCode = exit;
    }

    /** Returns the exit code of the command. */
    public int exitCode() {
        return exitCode;
    }
}
