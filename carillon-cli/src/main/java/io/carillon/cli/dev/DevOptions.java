package io.carillon.cli.dev;

import io.carillon.cli.config.Address;
import io.carillon.cli.shell.DatabaseUrl;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The options of {@code carillon dev}.
 *
 * @param directory the directory of the log, the keys and the embedded database
 * @param url null for the embedded database
 * @param listen empty for the default address
 * @param demo whether the demo schedules exist
 * @param plain whether lines are printed instead of the live view
 */
public record DevOptions(
        Path directory,
        boolean directoryGiven,
        boolean reset,
        @Nullable DatabaseUrl url,
        Optional<Address> listen,
        boolean demo,
        boolean plain,
        String version) {
    Path log() {
        return directory.resolve("carillon.log");
    }

    /** Returns the file with the API key of the first start. */
    Path key() {
        return directory.resolve("api.key");
    }

    /** Returns the file with the master key that encrypts webhook secrets. */
    Path masterKeys() {
        return directory.resolve("master.key");
    }

    Path postgres() {
        return directory.resolve("postgres");
    }
}
