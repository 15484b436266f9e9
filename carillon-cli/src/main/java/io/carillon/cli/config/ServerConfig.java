package io.carillon.cli.config;

import io.carillon.cli.shell.DatabaseUrl;
import io.carillon.cli.shell.Shell;
import io.carillon.store.Wakeup;
import io.carillon.value.Durations;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The settings of a server, read and checked. */
public record ServerConfig(
        DatabaseUrl database,
        Address address,
        Role role,
        boolean jsonLog,
        Node node,
        Pools pools,
        WebhookConfig webhooks) {
    /** What a process does. */
    public enum Role {
        API,
        ENGINE,
        BOTH;

        /** Whether it answers requests. */
        public boolean serves() {
            return this != ENGINE;
        }

        /** Whether it plans and executes. */
        public boolean executes() {
            return this != API;
        }
    }

    /** How the engine works. */
    public record Node(Optional<String> name, Optional<Integer> concurrency, Duration drain, Wakeup wakeup) {}

    /** How many connections there are for what. */
    public record Pools(int engine, int requests) {}

    /** All of them, or the first that cannot be. */
    public static ServerConfig of(Settings settings, Shell shell) {
        Node node = new Node(
                settings.get(Setting.NODE).map(Settings.Value::text),
                settings.number(Setting.CONCURRENCY, 1, 10_000),
                drain(settings),
                Wakeup.named(settings.word(Setting.WAKEUP, List.of("notify", "polling", "http")), null));
        Pools pools = new Pools(
                settings.number(Setting.ENGINE_POOL, 4, 1_000).orElse(10),
                settings.number(Setting.REQUEST_POOL, 1, 1_000).orElse(20));
        String role = settings.word(Setting.ROLE, List.of("api", "engine", "both"));
        return new ServerConfig(
                settings.database(shell),
                Address.parse(settings.get(Setting.LISTEN).orElseThrow().text()),
                Role.valueOf(role.toUpperCase(Locale.ROOT)),
                settings.word(Setting.LOG, List.of("text", "json")).equals("json"),
                node,
                pools,
                WebhookConfig.of(settings, shell));
    }

    private static Duration drain(Settings settings) {
        Settings.Value value = settings.get(Setting.DRAIN).orElseThrow();
        return Durations.parse(value.text())
                .filter(length -> !length.isNegative())
                .orElseThrow(() -> Settings.wrong(Setting.DRAIN, value, "a duration such as 30s or PT1M"));
    }
}
