package io.carillon.cli.config;

import io.carillon.cli.shell.DataDirectory;
import io.carillon.cli.shell.Shell;
import io.carillon.internal.value.Durations;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The settings of keys and of the separation of projects.
 *
 * @param bootstrapKeyFile the file for the first key; asked only if a key is created, because a user without a home
 *     directory has no default file
 */
public record AccessConfig(
        Optional<Duration> maxKeyLifetime, boolean requireRowSecurity, Supplier<Path> bootstrapKeyFile) {
    static AccessConfig of(Settings settings, Shell shell) {
        Optional<String> file = settings.get(Setting.BOOTSTRAP_KEY_FILE).map(Settings.Value::text);
        return new AccessConfig(
                settings.get(Setting.MAX_KEY_LIFETIME).map(AccessConfig::lifetime),
                Boolean.parseBoolean(settings.word(Setting.REQUIRE_ROW_SECURITY)),
                () -> file.map(name -> DataDirectory.absolutePath(Setting.BOOTSTRAP_KEY_FILE.flag(), name))
                        .orElseGet(() -> DataDirectory.of(shell).path().resolve("bootstrap.key")));
    }

    private static Duration lifetime(Settings.Value value) {
        return Durations.parse(value.text())
                .filter(length -> length.compareTo(Duration.ofHours(1)) >= 0)
                .orElseThrow(() -> Settings.invalidValue(
                        Setting.MAX_KEY_LIFETIME, value, "a duration of at least 1h, such as 90d"));
    }
}
