package io.carillon.cli.shell;

import io.carillon.internal.value.WallClock;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;

/**
 * The environment of a command: its output streams, the environment variables and the clock. The streams escape control
 * characters.
 */
public record Shell(PrintWriter out, PrintWriter err, Map<String, String> environment, InstantSource clock) {
    public Shell {
        out = EscapingPrintWriter.around(out);
        err = EscapingPrintWriter.around(err);
        environment = Map.copyOf(environment);
    }

    /** Returns the environment of this process. Its streams flush after each line. */
    public static Shell real() {
        return new Shell(
                new PrintWriter(System.out, true, encoding("stdout.encoding")),
                new PrintWriter(System.err, true, encoding("stderr.encoding")),
                System.getenv(),
                () -> Instant.ofEpochMilli(WallClock.millis()));
    }

    /**
     * Returns the encoding of the locale. JDK 17 has one property for it; later versions have one property per stream.
     */
    private static Charset encoding(String property) {
        String name = System.getProperty(property, System.getProperty("native.encoding", "UTF-8"));
        return Charset.isSupported(name) ? Charset.forName(name) : StandardCharsets.UTF_8;
    }

    /** Shows the text in place of the last line of standard error, which must be a terminal. */
    public void replaceLine(String text) {
        EscapingPrintWriter.around(err).clearLine();
        err.print(text);
        err.flush();
    }

    /** Returns an environment variable. A blank value counts as not set. */
    public Optional<String> variable(String name) {
        return Optional.ofNullable(environment.get(name)).filter(value -> !value.isBlank());
    }
}
