package io.carillon.cli.config;

import io.carillon.cli.shell.UsageException;
import io.carillon.seal.Keyring;
import io.carillon.value.CarillonException;
import io.carillon.webhook.guard.GuardPolicy;
import java.util.Optional;
import java.util.stream.Stream;

/** What webhooks are told: the keys their secrets are sealed with, and where they may go. */
public record WebhookConfig(Optional<Keyring> keys, GuardPolicy guard) {
    static WebhookConfig of(Settings settings) {
        GuardPolicy guard = GuardPolicy.defaults();
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
        // A variable holds one line, so there commas stand between them.
        Optional<String> lines =
                settings.get(Setting.MASTER_KEYS).map(value -> value.text().replace(',', '\n'));
        try {
            return lines.map(Keyring::parse);
        } catch (CarillonException unreadable) {
            throw new UsageException(String.valueOf(unreadable.getMessage()), unreadable);
        }
    }
}
