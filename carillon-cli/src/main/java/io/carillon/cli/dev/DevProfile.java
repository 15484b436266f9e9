package io.carillon.cli.dev;

import io.carillon.cli.client.Profiles;
import io.carillon.cli.shell.Program;
import io.carillon.cli.shell.SecretFiles;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import java.nio.file.Files;
import java.util.Optional;

/** The profile of the development node: with it, commands need neither an address nor a key. */
final class DevProfile {
    private static final String NAME = "dev";

    private final Shell shell;
    private final DevOptions options;

    DevProfile(Shell shell, DevOptions options) {
        this.shell = shell;
        this.options = options;
    }

    /**
     * Stores the address and the key, and makes the profile the current one. Returns a text about it; empty if the
     * profile cannot be stored, which is reported and does not stop the node.
     */
    Optional<String> select(String url) {
        if (!Files.exists(options.key())) return Optional.empty();
        try {
            Profiles profiles = Profiles.of(shell);
            Optional<String> before = profiles.current().filter(name -> !name.equals(NAME));
            profiles.put(new Profiles.Profile(
                    NAME, url, SecretFiles.read("the API key", options.key().toString())));
            profiles.use(NAME);
            return Optional.of(NAME + ", selected for all commands"
                    + before.map(name -> "; '%s profile use %s' goes back".formatted(Program.name(), name))
                            .orElse(""));
        } catch (UsageException unusable) {
            shell.err().println("The profile dev was not stored: " + unusable.getMessage());
            return Optional.empty();
        }
    }
}
