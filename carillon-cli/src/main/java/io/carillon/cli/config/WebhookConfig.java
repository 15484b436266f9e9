package io.carillon.cli.config;

import io.carillon.CarillonException;
import io.carillon.cli.shell.UsageException;
import io.carillon.spi.Keyring;
import io.carillon.webhook.guard.AddressPolicy;
import java.util.Optional;
import java.util.stream.Stream;

/** The settings of webhooks: the master keys for their secrets and the addresses that they may call. */
public record WebhookConfig(Optional<Keyring> keys, AddressPolicy guard) {
    static WebhookConfig of(Settings settings) {
        AddressPolicy guard = AddressPolicy.defaults();
        try {
            guard = guard.allow(entries(settings, Setting.WEBHOOK_ALLOW)).deny(entries(settings, Setting.WEBHOOK_DENY));
        } catch (CarillonException refused) {
            throw new UsageException(String.valueOf(refused.getMessage()), refused);
        }
        return new WebhookConfig(keys(settings), guard);
    }

    private static String[] entries(Settings settings, Setting setting) {
        return settings.get(setting).stream()
                .flatMap(value -> Stream.of(value.text().split(",", -1)))
                .map(String::strip)
                .filter(entry -> !entry.isEmpty())
                .toArray(String[]::new);
    }

    private static Optional<Keyring> keys(Settings settings) {
        // An environment variable holds one line, so commas separate the keys there.
        Optional<String> lines =
                settings.get(Setting.MASTER_KEYS).map(value -> value.text().replace(',', '\n'));
        try {
            return lines.map(Keyring::parse);
        } catch (CarillonException unreadable) {
            throw new UsageException(String.valueOf(unreadable.getMessage()), unreadable);
        }
    }
}
