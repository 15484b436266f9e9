package io.carillon.cli;

import io.carillon.cli.shell.Shell;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.util.Map;

/** The result of a command that ran in this JVM: its exit code and its output. The clock is fixed. */
record CommandResult(int exitCode, String out, String err) {
    static final Instant NOW = Instant.parse("2026-06-01T12:00:00Z");

    static CommandResult run(String... words) {
        return runWith(Map.of(), words);
    }

    /** Returns a shell that discards all output. */
    static Shell silentShell() {
        PrintWriter nowhere = new PrintWriter(new StringWriter());
        return new Shell(nowhere, nowhere, Map.of(), () -> NOW);
    }

    static CommandResult runWith(Map<String, String> environment, String... words) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        Shell shell = new Shell(new PrintWriter(out, true), new PrintWriter(err, true), environment, () -> NOW);
        int exit = Main.run(shell, words);
        return new CommandResult(exit, out.toString(), err.toString());
    }
}
