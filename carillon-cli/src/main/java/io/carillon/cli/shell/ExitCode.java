package io.carillon.cli.shell;

/** The exit codes of every subcommand, as docs/cli.md lists them. */
public final class ExitCode {
    public static final int OK = 0;
    /** It was understood, but did not work. */
    public static final int FAILED = 1;
    /** It was not understood: a wrong word, option, expression, zone or address. */
    public static final int USAGE = 2;
    /** There is no such schedule, run, queue, key or project. */
    public static final int MISSING = 3;
    /** The key is missing or wrong, or may not do this. */
    public static final int REFUSED = 4;
    /** It contradicts what is there. */
    public static final int CONFLICT = 5;
    /** It took too long; nobody knows whether it happened. */
    public static final int TIMEOUT = 6;
    /** The server or its database is away. */
    public static final int AWAY = 7;
    /** A part of it was done. */
    public static final int PARTLY = 8;
    /** The run that was waited for did not succeed. */
    public static final int RUN_FAILED = 10;

    private ExitCode() {}
}
