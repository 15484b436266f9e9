package io.carillon.cli.dev;

import io.carillon.cli.config.Address;
import io.carillon.cli.shell.DatabaseUrl;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What {@code carillon dev} was asked for. Without a URL the database is embedded, and lies in the directory beside the log. */
public record DevOptions(
        Path directory,
        @Nullable DatabaseUrl url,
        Optional<Address> listen,
        boolean demo,
        boolean plain,
        String version) {
    Path log() {
        return directory.resolve("carillon.log");
    }

    /** The key of the first start, for whoever can read this directory. */
    Path key() {
        return directory.resolve("api.key");
    }

    /** The key that seals secrets here. */
    Path masterKeys() {
        return directory.resolve("master.key");
    }

    Path postgres() {
        return directory.resolve("postgres");
    }
}
