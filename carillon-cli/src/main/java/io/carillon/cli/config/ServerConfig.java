package io.carillon.cli.config;

import io.carillon.cli.shell.DatabaseUrl;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import io.carillon.server.access.JwtTokens;
import io.carillon.server.access.KeySet;
import io.carillon.server.access.Tokens;
import io.carillon.store.Wakeup;
import io.carillon.value.Durations;
import io.carillon.value.SchemaMode;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

/** The settings of a server, read and checked. */
public record ServerConfig(
        DatabaseUrl database,
        Tables tables,
        Address address,
        Optional<Tokens> tokens,
        Role role,
        boolean jsonLog,
        Node node,
        Pools pools,
        Duration auditKept,
        WebhookConfig webhooks) {
    /** What to do about the tables before anything else. */
    public enum Tables {
        AUTO(SchemaMode.AUTO),
        VALIDATE(SchemaMode.VALIDATE),
        OFF(SchemaMode.OFF),
        /** Nothing is started. */
        PRINT(SchemaMode.OFF);

        private final SchemaMode mode;

        Tables(SchemaMode mode) {
            this.mode = mode;
        }

        /** The same for whoever starts. */
        public SchemaMode mode() {
            return mode;
        }
    }

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
    public record Node(
            Optional<String> name, Optional<Integer> concurrency, Duration lookAhead, Duration drain, Wakeup wakeup) {}

    /** How many connections there are for what. */
    public record Pools(int engine, int requests) {}

    /** All of them, or the first that cannot be. */
    public static ServerConfig of(Settings settings, Shell shell) {
        Node node = new Node(
                settings.get(Setting.NODE).map(Settings.Value::text),
                settings.number(Setting.CONCURRENCY, 1, 10_000),
                lookAhead(settings),
                drain(settings),
                Wakeup.named(settings.word(Setting.WAKEUP), null));
        Pools pools = new Pools(
                settings.number(Setting.ENGINE_POOL, 4, 1_000).orElse(10),
                settings.number(Setting.REQUEST_POOL, 1, 1_000).orElse(20));
        return new ServerConfig(
                settings.database(shell),
                Tables.valueOf(settings.word(Setting.SCHEMA).toUpperCase(Locale.ROOT)),
                Address.parse(settings.get(Setting.LISTEN).orElseThrow().text()),
                tokens(settings),
                Role.valueOf(settings.word(Setting.ROLE).toUpperCase(Locale.ROOT)),
                settings.word(Setting.LOG).equals("json"),
                node,
                pools,
                auditKept(settings),
                WebhookConfig.of(settings));
    }

    private static Duration auditKept(Settings settings) {
        Settings.Value value = settings.get(Setting.AUDIT_KEPT).orElseThrow();
        return Durations.parse(value.text())
                .filter(length -> length.compareTo(Duration.ofDays(1)) >= 0)
                .orElseThrow(
                        () -> Settings.wrong(Setting.AUDIT_KEPT, value, "a duration of a day or more, such as 90d"));
    }

    /** Somebody else's tokens: by the keys of the issuer, or by a secret shared with it. */
    private static Optional<Tokens> tokens(Settings settings) {
        Optional<String> issuer = settings.get(Setting.JWT_ISSUER).map(Settings.Value::text);
        Optional<String> jwks = settings.get(Setting.JWT_JWKS).map(Settings.Value::text);
        Optional<String> secret = settings.get(Setting.JWT_SECRET).map(Settings.Value::text);
        if (issuer.isEmpty() && jwks.isEmpty() && secret.isEmpty()) return Optional.empty();
        if (issuer.isEmpty() || jwks.isPresent() == secret.isPresent())
            throw new UsageException(
                    "Tokens need jwt.issuer, and either jwt.jwks or jwt.secret to check them by. Set both parts, or none.");
        String audience = settings.get(Setting.JWT_AUDIENCE).orElseThrow().text();
        return Optional.of(
                jwks.isPresent()
                        ? JwtTokens.signed(issuer.get(), audience, KeySet.at(jwks(settings)))
                        : JwtTokens.shared(
                                issuer.get(), audience, secret.orElseThrow().getBytes(StandardCharsets.UTF_8)));
    }

    private static URI jwks(Settings settings) {
        Settings.Value value = settings.get(Setting.JWT_JWKS).orElseThrow();
        try {
            URI address = URI.create(value.text());
            if (address.getHost() != null
                    && ("https".equals(address.getScheme()) || "http".equals(address.getScheme()))) return address;
        } catch (IllegalArgumentException odd) {
            throw Settings.wrong(Setting.JWT_JWKS, value, "an address such as https://id.example/jwks.json");
        }
        throw Settings.wrong(Setting.JWT_JWKS, value, "an address such as https://id.example/jwks.json");
    }

    private static Duration lookAhead(Settings settings) {
        Settings.Value value = settings.get(Setting.LOOK_AHEAD).orElseThrow();
        return Durations.parse(value.text())
                .filter(length ->
                        length.compareTo(Duration.ofSeconds(20)) >= 0 && length.compareTo(Duration.ofHours(1)) <= 0)
                .orElseThrow(() -> Settings.wrong(Setting.LOOK_AHEAD, value, "a duration between 20s and 1h"));
    }

    private static Duration drain(Settings settings) {
        Settings.Value value = settings.get(Setting.DRAIN).orElseThrow();
        return Durations.parse(value.text())
                .filter(length -> !length.isNegative())
                .orElseThrow(() -> Settings.wrong(Setting.DRAIN, value, "a duration such as 30s or PT1M"));
    }
}
