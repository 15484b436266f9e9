package io.carillon.cli.shell;

import io.carillon.value.WallClock;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;

/** What the caller gives a command: where answers and messages go, the environment, and the time of day. */
public record Shell(PrintWriter out, PrintWriter err, Map<String, String> environment, InstantSource clock) {
    public Shell {
        environment = Map.copyOf(environment);
    }

    /** The one of this process. Lines are flushed as they are written. */
    public static Shell real() {
        return new Shell(
                new PrintWriter(System.out, true, encoding("stdout.encoding")),
                new PrintWriter(System.err, true, encoding("stderr.encoding")),
                System.getenv(),
                () -> Instant.ofEpochMilli(WallClock.millis()));
    }

    /** That of the locale; JDK 17 knows it by one name, newer ones have a name for each stream. */
    private static Charset encoding(String property) {
        String name = System.getProperty(property, System.getProperty("native.encoding", "UTF-8"));
        return Charset.isSupported(name) ? Charset.forName(name) : StandardCharsets.UTF_8;
    }

    /** A variable of the environment; one that is blank counts as not set. */
    public Optional<String> variable(String name) {
        return Optional.ofNullable(environment.get(name)).filter(value -> !value.isBlank());
    }
}
