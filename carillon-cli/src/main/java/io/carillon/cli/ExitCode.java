package io.carillon.cli;

/** The exit codes of every subcommand, as docs/cli.md lists them. */
final class ExitCode {
    static final int OK = 0;
    /** It was understood, but did not work. */
    static final int FAILED = 1;
    /** It was not understood: a wrong word, option, expression, zone or address. */
    static final int USAGE = 2;

    private ExitCode() {}
}
