package io.carillon.cli.config;

import io.carillon.NodeConfig;
import io.carillon.SchemaMode;
import io.carillon.Wakeup;
import io.carillon.cli.shell.DatabaseUrl;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import io.carillon.internal.value.Durations;
import io.carillon.server.access.BearerTokenVerifier;
import io.carillon.server.access.JwkSet;
import io.carillon.server.access.JwtVerifier;
import io.carillon.server.store.ProjectRepository;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

/** The settings of a server, parsed and checked. */
public record ServerConfig(
        DatabaseUrl database,
        SchemaAction schemaAction,
        Address address,
        Optional<BearerTokenVerifier> tokenVerifier,
        Role role,
        boolean jsonLog,
        Node node,
        Pools pools,
        Duration auditRetention,
        ProjectRepository.Quota quota,
        WebhookConfig webhooks,
        AccessConfig access,
        HttpConfig http) {
    /** The action on the schema before the process starts. */
    public enum SchemaAction {
        AUTO(SchemaMode.AUTO),
        VALIDATE(SchemaMode.VALIDATE),
        OFF(SchemaMode.OFF),
        /** Prints the missing SQL and starts nothing. */
        PRINT(SchemaMode.OFF);

        private final SchemaMode mode;

        SchemaAction(SchemaMode mode) {
            this.mode = mode;
        }

        /** Returns the mode for the engine. */
        public SchemaMode mode() {
            return mode;
        }
    }

    /** The parts that a process runs. */
    public enum Role {
        API,
        ENGINE,
        BOTH;

        /** Returns whether the process answers requests. */
        public boolean serves() {
            return this != ENGINE;
        }

        /** Returns whether the process plans and executes runs. */
        public boolean executes() {
            return this != API;
        }
    }

    /** The settings of the engine. Empty values mean the default of the engine. */
    public record Node(
            Optional<String> name,
            Optional<Integer> concurrency,
            Leaders leaders,
            Duration lookAhead,
            Duration shutdownTimeout,
            Wakeup wakeup) {}

    /** Which nodes plan and execute, and the times of leaders. */
    public record Leaders(
            NodeConfig.Planning planning, NodeConfig.Claiming claiming, Duration lease, Duration checkInterval) {}

    /** The sizes of the connection pools. */
    public record Pools(int engine, int requests) {}

    /** Parses all settings. Throws a {@link UsageException} for the first invalid setting. */
    public static ServerConfig of(Settings settings, Shell shell) {
        Node node = new Node(
                settings.get(Setting.NODE).map(Settings.Value::text),
                settings.number(Setting.CONCURRENCY, 1, 10_000),
                leaders(settings),
                lookAhead(settings),
                shutdownTimeout(settings),
                Wakeup.named(settings.word(Setting.WAKEUP), null));
        Pools pools = new Pools(
                settings.number(Setting.ENGINE_POOL, 4, 1_000).orElse(10),
                settings.number(Setting.REQUEST_POOL, 1, 1_000).orElse(20));
        return new ServerConfig(
                settings.database(shell),
                SchemaAction.valueOf(settings.word(Setting.SCHEMA).toUpperCase(Locale.ROOT)),
                Address.parse(settings.get(Setting.LISTEN).orElseThrow().text()),
                tokens(settings),
                Role.valueOf(settings.word(Setting.ROLE).toUpperCase(Locale.ROOT)),
                settings.word(Setting.LOG).equals("json"),
                node,
                pools,
                auditKept(settings),
                quota(settings),
                WebhookConfig.of(settings),
                AccessConfig.of(settings, shell),
                HttpConfig.of(settings));
    }

    /** Returns the quota of projects that have none of their own. */
    private static ProjectRepository.Quota quota(Settings settings) {
        return new ProjectRepository.Quota(
                        null,
                        settings.number(Setting.MAX_SCHEDULES, 0, 10_000_000).orElse(null),
                        settings.number(Setting.MAX_WAITING, 0, 100_000_000)
                                .map(Integer::longValue)
                                .orElse(null),
                        settings.number(Setting.MAX_BULK_ACTIONS, 0, 1_000).orElse(null),
                        settings.number(Setting.MAX_STREAMS, 0, 1_000).orElse(null),
                        settings.number(Setting.MAX_ENDPOINTS, 0, 1_000_000).orElse(null),
                        settings.number(Setting.MAX_SUBSCRIPTIONS, 0, 1_000_000).orElse(null))
                .orElse(ProjectRepository.Quota.DEFAULT);
    }

    private static Duration auditKept(Settings settings) {
        Settings.Value value = settings.get(Setting.AUDIT_KEPT).orElseThrow();
        return Durations.parse(value.text())
                .filter(length -> length.compareTo(Duration.ofDays(1)) >= 0)
                .orElseThrow(() ->
                        Settings.invalidValue(Setting.AUDIT_KEPT, value, "a duration of at least 1d, such as 90d"));
    }

    /**
     * Returns the verifier for tokens of an identity provider, by the public keys of the issuer or by a shared secret.
     */
    private static Optional<BearerTokenVerifier> tokens(Settings settings) {
        Optional<String> issuer = settings.get(Setting.JWT_ISSUER).map(Settings.Value::text);
        Optional<String> jwks = settings.get(Setting.JWT_JWKS).map(Settings.Value::text);
        Optional<String> secret = settings.get(Setting.JWT_SECRET).map(Settings.Value::text);
        if (issuer.isEmpty() && jwks.isEmpty() && secret.isEmpty()) return Optional.empty();
        if (issuer.isEmpty() || jwks.isPresent() == secret.isPresent())
            throw new UsageException(
                    "Tokens need jwt.issuer and either jwt.jwks or jwt.secret. Set jwt.issuer and one of the "
                            + "other two, or none of them.");
        String audience = settings.get(Setting.JWT_AUDIENCE).orElseThrow().text();
        return Optional.of(
                jwks.isPresent()
                        ? JwtVerifier.withPublicKeys(issuer.get(), audience, JwkSet.fromUri(jwksUri(settings)))
                        : JwtVerifier.withSharedSecret(
                                issuer.get(), audience, secret.orElseThrow().getBytes(StandardCharsets.UTF_8)));
    }

    private static URI jwksUri(Settings settings) {
        Settings.Value value = settings.get(Setting.JWT_JWKS).orElseThrow();
        try {
            URI address = URI.create(value.text());
            if (JwkSet.isAllowed(address)) return address;
        } catch (IllegalArgumentException odd) {
            throw invalidJwks(value);
        }
        throw invalidJwks(value);
    }

    private static UsageException invalidJwks(Settings.Value value) {
        return Settings.invalidValue(
                Setting.JWT_JWKS,
                value,
                "a URL such as https://id.example/jwks.json; http only for an address of this machine");
    }

    private static Leaders leaders(Settings settings) {
        Duration lease = duration(settings, Setting.LEADER_LEASE, Duration.ofSeconds(1), Duration.ofHours(1));
        return new Leaders(
                NodeConfig.Planning.valueOf(constant(settings.word(Setting.PLANNING))),
                NodeConfig.Claiming.valueOf(constant(settings.word(Setting.CLAIMING))),
                lease,
                duration(settings, Setting.LEADER_CHECK, Duration.ofMillis(100), lease.dividedBy(2)));
    }

    private static String constant(String word) {
        return word.toUpperCase(Locale.ROOT).replace('-', '_');
    }

    private static Duration duration(Settings settings, Setting setting, Duration min, Duration max) {
        Settings.Value value = settings.get(setting).orElseThrow();
        return Durations.parse(value.text())
                .filter(length -> length.compareTo(min) >= 0 && length.compareTo(max) <= 0)
                .orElseThrow(() ->
                        Settings.invalidValue(setting, value, "a duration between %s and %s".formatted(min, max)));
    }

    private static Duration lookAhead(Settings settings) {
        Settings.Value value = settings.get(Setting.LOOK_AHEAD).orElseThrow();
        return Durations.parse(value.text())
                .filter(length ->
                        length.compareTo(Duration.ofSeconds(20)) >= 0 && length.compareTo(Duration.ofHours(1)) <= 0)
                .orElseThrow(() -> Settings.invalidValue(Setting.LOOK_AHEAD, value, "a duration between 20s and 1h"));
    }

    private static Duration shutdownTimeout(Settings settings) {
        Settings.Value value = settings.get(Setting.SHUTDOWN_TIMEOUT).orElseThrow();
        return Durations.parse(value.text())
                .filter(length -> !length.isNegative())
                .orElseThrow(
                        () -> Settings.invalidValue(Setting.SHUTDOWN_TIMEOUT, value, "a duration such as 30s or PT1M"));
    }
}
