package io.carillon.cli.shell;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.UnaryOperator;

/** The directory for a user's data: {@code CARILLON_HOME}, or the directory that the operating system defines. */
public record DataDirectory(Map<String, String> environment, UnaryOperator<String> property) {

    /** Returns the data directory of the user of this process. */
    public static DataDirectory of(Shell shell) {
        return new DataDirectory(shell.environment(), name -> System.getProperty(name, ""));
    }

    /** Returns the absolute path. The directory may not exist yet. */
    public Path path() {
        String chosen = variable("CARILLON_HOME");
        if (!chosen.isBlank()) return absolutePath("CARILLON_HOME", chosen);
        String system = property.apply("os.name");
        if (system.startsWith("Windows")) {
            String local = variable("LOCALAPPDATA");
            return (local.isBlank() ? userHome().resolve("AppData/Local") : Path.of(local)).resolve("carillon");
        }
        if (system.startsWith("Mac")) return userHome().resolve("Library/Application Support/carillon");
        // The XDG specification says to ignore a relative path.
        String data = variable("XDG_DATA_HOME");
        return (data.startsWith("/") ? Path.of(data) : userHome().resolve(".local/share")).resolve("carillon");
    }

    /** Returns the home directory. Java reports "?" for a user without an entry in the password file. */
    private Path userHome() {
        Path home = Path.of(property.apply("user.home"));
        if (!home.isAbsolute())
            throw new UsageException(
                    "This user has no home directory. Set CARILLON_HOME, or name a path with --data (dev) or "
                            + "--bootstrap-key-file (serve).");
        return home;
    }

    private String variable(String name) {
        return environment.getOrDefault(name, "");
    }

    /**
     * Returns the absolute path of a user's input.
     *
     * @param what the option or variable, for messages
     */
    public static Path absolutePath(String what, String typed) {
        try {
            return Path.of(typed).toAbsolutePath().normalize();
        } catch (InvalidPathException e) {
            throw new UsageException("%s is not a valid path (was '%s'): %s.".formatted(what, typed, e.getReason()), e);
        }
    }
}
