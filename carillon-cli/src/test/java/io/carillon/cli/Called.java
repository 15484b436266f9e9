package io.carillon.cli;

import io.carillon.cli.shell.Shell;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.util.Map;

/** The command as somebody called it, in this JVM: its exit code and what it wrote. The time is always the same. */
record Called(int exit, String out, String err) {
    static final Instant NOW = Instant.parse("2026-06-01T12:00:00Z");

    static Called carillon(String... words) {
        return with(Map.of(), words);
    }

    /** A shell in which nothing is heard. */
    static Shell silent() {
        PrintWriter nowhere = new PrintWriter(new StringWriter());
        return new Shell(nowhere, nowhere, Map.of(), () -> NOW);
    }

    static Called with(Map<String, String> environment, String... words) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        Shell shell = new Shell(new PrintWriter(out, true), new PrintWriter(err, true), environment, () -> NOW);
        int exit = Main.run(shell, words);
        return new Called(exit, out.toString(), err.toString());
    }
}
