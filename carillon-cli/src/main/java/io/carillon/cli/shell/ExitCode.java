package io.carillon.cli.shell;

/** The exit codes of all commands, as listed in docs/cli.md. */
public final class ExitCode {
    public static final int OK = 0;
    /** The command line was valid, but the command failed. */
    public static final int FAILED = 1;
    /** The command line is invalid: a wrong command, option, expression, time zone or address. */
    public static final int USAGE = 2;
    /** The schedule, run, queue, key or project does not exist. */
    public static final int NOT_FOUND = 3;
    /** The API key is missing or invalid, or does not have the scope. */
    public static final int REFUSED = 4;
    /** The request conflicts with the current state. */
    public static final int CONFLICT = 5;
    /** The server did not answer in time. The command may have been executed. */
    public static final int TIMEOUT = 6;
    /** The server or its database is not reachable. */
    public static final int UNAVAILABLE = 7;
    /** Only a part of the work was done. */
    public static final int PARTIAL = 8;
    /** The run that the command waited for did not succeed. */
    public static final int RUN_FAILED = 10;

    private ExitCode() {}
}
