package io.carillon.cli.shell;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Where Carillon keeps a user's data: {@code CARILLON_HOME}, else the place the operating system has for it. */
public record DataHome(Map<String, String> environment, UnaryOperator<String> property) {

    /** The one of this process's user. */
    public static DataHome of(Shell shell) {
        return new DataHome(shell.environment(), name -> System.getProperty(name, ""));
    }

    /** An absolute path; it may not exist yet. */
    public Path path() {
        String chosen = variable("CARILLON_HOME");
        if (!chosen.isBlank()) return absolute("CARILLON_HOME", chosen);
        String system = property.apply("os.name");
        if (system.startsWith("Windows")) {
            String local = variable("LOCALAPPDATA");
            return (local.isBlank() ? home().resolve("AppData/Local") : Path.of(local)).resolve("carillon");
        }
        if (system.startsWith("Mac")) return home().resolve("Library/Application Support/carillon");
        // The XDG specification says to ignore a relative path.
        String data = variable("XDG_DATA_HOME");
        return (data.startsWith("/") ? Path.of(data) : home().resolve(".local/share")).resolve("carillon");
    }

    /** A user without an entry in the password file has "?" for a home. */
    private Path home() {
        Path home = Path.of(property.apply("user.home"));
        if (!home.isAbsolute())
            throw new UsageException(
                    "This user has no home directory to keep data in. Set CARILLON_HOME, or name a directory with --data.");
        return home;
    }

    private String variable(String name) {
        return environment.getOrDefault(name, "");
    }

    /** Reads a path that somebody typed. */
    public static Path absolute(String what, String typed) {
        try {
            return Path.of(typed).toAbsolutePath().normalize();
        } catch (InvalidPathException e) {
            throw new UsageException(
                    "%s is '%s', which is no path: %s. Name a directory.".formatted(what, typed, e.getReason()), e);
        }
    }
}
