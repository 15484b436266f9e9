package io.carillon.cli.shell;

import org.jspecify.annotations.Nullable;

/** A command did not do what it was asked for: the message says why and what to do, the exit code what kind of trouble it was. */
public final class Failure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int exit;

    public Failure(int exit, String message) {
        this(exit, message, null);
    }

    public Failure(int exit, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.exit = exit;
    }

    /** The exit code to end with. */
    public int exit() {
        return exit;
    }
}
