package io.carillon.cli.config;

import io.carillon.cli.shell.DataDirectory;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import io.carillon.internal.value.Durations;
import io.carillon.server.login.OidcSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The settings of keys and of the separation of projects.
 *
 * @param provider the identity provider with which users log in; empty if there is none
 * @param bootstrapKeyFile the file for the first key; asked only if a key is created, because a user without a home
 *     directory has no default file
 */
public record AccessConfig(
        Optional<Duration> maxKeyLifetime,
        boolean requireRowSecurity,
        Optional<OidcSettings> provider,
        Supplier<Path> bootstrapKeyFile) {
    static AccessConfig of(Settings settings, Shell shell) {
        Optional<String> file = settings.get(Setting.BOOTSTRAP_KEY_FILE).map(Settings.Value::text);
        return new AccessConfig(
                settings.get(Setting.MAX_KEY_LIFETIME).map(AccessConfig::lifetime),
                Boolean.parseBoolean(settings.word(Setting.REQUIRE_ROW_SECURITY)),
                provider(settings),
                () -> file.map(name -> DataDirectory.absolutePath(Setting.BOOTSTRAP_KEY_FILE.flag(), name))
                        .orElseGet(() -> DataDirectory.of(shell).path().resolve("bootstrap.key")));
    }

    private static Optional<OidcSettings> provider(Settings settings) {
        Optional<Settings.Value> issuer = settings.get(Setting.OIDC_ISSUER);
        Optional<String> client = settings.get(Setting.OIDC_CLIENT_ID).map(Settings.Value::text);
        Optional<String> secret = settings.get(Setting.OIDC_CLIENT_SECRET).map(Settings.Value::text);
        Optional<Settings.Value> claim = settings.get(Setting.OIDC_ADMIN_CLAIM);
        if (issuer.isEmpty() && client.isEmpty() && secret.isEmpty() && claim.isEmpty()) return Optional.empty();
        if (issuer.isEmpty() || client.filter(id -> !id.isBlank()).isEmpty())
            throw new UsageException(
                    "The login with an identity provider needs oidc.issuer and oidc.client-id. Set both,"
                            + " or no setting that begins with oidc.");
        if (!OidcSettings.isAllowed(issuer.get().text()))
            throw Settings.invalidValue(
                    Setting.OIDC_ISSUER,
                    issuer.get(),
                    "a URL such as https://id.example; http only for an address of this machine");
        return Optional.of(new OidcSettings(
                issuer.get().text(),
                client.get(),
                secret.map(String::strip),
                claim.map(value -> OidcSettings.AdminClaim.parse(value.text())
                        .orElseThrow(() -> Settings.invalidValue(
                                Setting.OIDC_ADMIN_CLAIM, value, "a claim and its value, such as groups=admins")))));
    }

    private static Duration lifetime(Settings.Value value) {
        return Durations.parse(value.text())
                .filter(length -> length.compareTo(Duration.ofHours(1)) >= 0)
                .orElseThrow(() -> Settings.invalidValue(
                        Setting.MAX_KEY_LIFETIME, value, "a duration of at least 1h, such as 90d"));
    }
}
