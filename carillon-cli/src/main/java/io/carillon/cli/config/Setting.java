package io.carillon.cli.config;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A setting of the server: its key in configuration files, its allowed values, its default and its help text. The names
 * of its option and its environment variable follow from the key. The option of a secret names a file, because other
 * users can see option values in the list of processes. The database URL is an exception: its option takes the URL.
 */
public enum Setting {
    DATABASE_URL(
            "database.url",
            "URL",
            "",
            "Database, as postgres://user:password@host:5432/database or a jdbc:postgresql: URL. Default: "
                    + "$DATABASE_URL, $DATABASE_URL_FILE or the PG* variables."),
    SCHEMA(
            "schema",
            "auto|validate|off|print",
            "auto",
            "Action on the schema at the start: migrate it, only check it, ignore it, or print the missing SQL "
                    + "and exit."),
    LISTEN(
            "listen",
            "[HOST:]PORT",
            "127.0.0.1:8080",
            "Address to listen on. Addresses other than loopback are rejected until an API key was created."),
    ALLOWED_HOSTS(
            "allowed-hosts",
            "LIST",
            "",
            "Host names that the server answers for, besides localhost and IP addresses, separated by commas; * allows "
                    + "all."),
    PUBLIC_URL(
            "public-url",
            "URL",
            "",
            "Address of the server for browsers, such as https://carillon.example, with the path prefix of a "
                    + "proxy. The "
                    + "login with an identity provider needs it, unless only this machine reaches the server."),
    READ_ONLY("read-only", "true|false", "false", "Whether the server refuses every request that changes something."),
    MAX_CONNECTIONS_PER_ADDRESS(
            "max-connections-per-address",
            "N",
            "256",
            "Maximum number of connections from one client address; 0 for no limit."),
    ROLE(
            "role",
            "api|engine|both",
            "both",
            "Parts that this process runs: the REST API, the engine that plans and executes runs, or both."),
    LOG("log", "text|json", "text", "Format of the log on standard error: text, or one JSON object per line."),
    NODE("node", "NAME", "", "Name of this node. Default: host name and process id."),
    CONCURRENCY("concurrency", "N", "", "Maximum number of runs that this node executes at a time."),
    PLANNING("planning", "every-node|leader", "every-node", "Nodes that plan schedules: every node, or one leader."),
    CLAIMING(
            "claiming",
            "every-node|leader",
            "every-node",
            "Nodes that execute runs: every node, or one leader while the others stand by."),
    LEADER_LEASE("leader-lease", "DURATION", "3s", "Time after which a leader that died can be replaced, 1s to 1h."),
    LEADER_CHECK(
            "leader-check",
            "DURATION",
            "1s",
            "Interval at which leaders renew their lease and others try to take over, at most half the lease."),
    LOOK_AHEAD("look-ahead", "DURATION", "2m", "Time for which ticks of schedules are planned ahead, 20s to 1h."),
    SHUTDOWN_TIMEOUT(
            "shutdown-timeout",
            "DURATION",
            "30s",
            "Maximum wait for running attempts at shutdown, such as 30s or PT1M."),
    WAKEUP(
            "wakeup",
            "notify|polling|http",
            "notify",
            "Source of wake-ups for new work: notifications, polling or HTTP requests."),
    ENGINE_POOL("engine-pool", "N", "10", "Maximum number of database connections of the engine."),
    REQUEST_POOL("request-pool", "N", "20", "Maximum number of database connections for requests."),
    JWT_ISSUER("jwt.issuer", "TEXT", "", "Issuer whose tokens are accepted in addition to API keys."),
    JWT_AUDIENCE("jwt.audience", "TEXT", "carillon", "Audience that a token must name."),
    JWT_JWKS("jwt.jwks", "URL", "", "URL of the public keys of the issuer (JWKS)."),
    JWT_SECRET(
            "jwt.secret",
            "FILE",
            "",
            "File with the secret shared with the issuer, at least 32 bytes. Alternative to --jwt-jwks."),
    OIDC_ISSUER(
            "oidc.issuer", "URL", "", "Identity provider (OpenID Connect) with which users log in to the dashboard."),
    OIDC_CLIENT_ID("oidc.client-id", "TEXT", "", "Id of this server at the identity provider."),
    OIDC_CLIENT_SECRET(
            "oidc.client-secret",
            "FILE",
            "",
            "File with the secret of this server at the identity provider. Without it, the server is a public client."),
    OIDC_ADMIN_CLAIM(
            "oidc.admin-claim",
            "NAME=VALUE",
            "",
            "Claim of the identity token that makes a user an admin of the project 'default' while it has none, "
                    + "such as "
                    + "groups=carillon-admins."),
    MAX_KEY_LIFETIME(
            "max-key-lifetime",
            "DURATION",
            "",
            "Longest lifetime of new API keys, at least 1h, such as 90d. Default: no limit."),
    BOOTSTRAP_KEY_FILE(
            "bootstrap-key-file",
            "FILE",
            "",
            "File for the first API key, which the first start on a database creates. Only its owner can read it. "
                    + "Default: 'bootstrap.key' in $CARILLON_HOME, or in the user's data directory."),
    REQUIRE_ROW_SECURITY(
            "require-row-security",
            "true|false",
            "true",
            "Whether the server refuses to start if PostgreSQL does not separate projects by row-level security."),
    AUDIT_KEPT("audit-kept", "DURATION", "365d", "Retention of the audit log, at least 1d."),
    MAX_SCHEDULES("max-schedules", "N", "10000", "Maximum number of schedules of a project without its own quota."),
    MAX_WAITING(
            "max-waiting",
            "N",
            "1000000",
            "Maximum number of waiting and running runs of a project without its own quota."),
    MAX_BULK_ACTIONS(
            "max-bulk-actions", "N", "5", "Maximum number of running bulk actions of a project without its own quota."),
    MAX_STREAMS(
            "max-streams",
            "N",
            "20",
            "Maximum number of open event streams on this node of a project without its own quota."),
    MAX_ENDPOINTS("max-endpoints", "N", "1000", "Maximum number of endpoints of a project without its own quota."),
    MAX_SUBSCRIPTIONS(
            "max-subscriptions", "N", "1000", "Maximum number of subscriptions of a project without its own quota."),
    MASTER_KEYS(
            "master-keys",
            "FILE",
            "",
            "File with the master keys that encrypt the secrets of endpoints, one id:base64 per line, the current key "
                    + "first. Without master keys, endpoints cannot have secrets."),
    WEBHOOK_ALLOW(
            "webhook-allow",
            "LIST",
            "",
            "Non-public addresses that webhooks may call: host:port, or ranges such as 10.1.0.0/16, separated by "
                    + "commas."),
    WEBHOOK_DENY("webhook-deny", "LIST", "", "Address ranges that webhooks must not call, separated by commas.");

    private final String key;
    private final String valueFormat;
    private final String defaultValue;
    private final String description;

    Setting(String key, String valueFormat, String defaultValue, String description) {
        this.key = key;
        this.valueFormat = valueFormat;
        this.defaultValue = defaultValue;
        this.description = description;
    }

    /** Returns the key in configuration files. */
    public String key() {
        return key;
    }

    /** Returns the command-line option. */
    public String flag() {
        String flag = "--" + key.replace('.', '-');
        return flagNamesFile() ? flag + "-file" : flag;
    }

    /**
     * Returns the environment variable. For a secret, the variable with the suffix {@code _FILE} may name a file with
     * the value.
     */
    public String variable() {
        String name = key.replace('.', '_').replace('-', '_').toUpperCase(Locale.ROOT);
        // The name that most other tools use.
        return this == DATABASE_URL ? name : "CARILLON_" + name;
    }

    /** Returns the allowed words with bars between them, or a placeholder if any value is allowed. */
    String valueFormat() {
        return valueFormat;
    }

    /** Returns the help text, with the default if there is one. */
    String description() {
        return defaultValue.isEmpty() ? description : description + " Default: " + defaultValue + ".";
    }

    /** Returns whether the option may be given without a value, which means true. */
    boolean isSwitch() {
        return valueFormat.equals("true|false");
    }

    /** Returns the allowed words. */
    List<String> allowedWords() {
        return List.of(valueFormat.split("\\|", -1));
    }

    /** Returns the default; empty if there is none. */
    String defaultValue() {
        return defaultValue;
    }

    boolean isSecret() {
        return this == DATABASE_URL || this == JWT_SECRET || this == OIDC_CLIENT_SECRET || this == MASTER_KEYS;
    }

    /** Returns whether the option names a file that contains the value. */
    boolean flagNamesFile() {
        return isSecret() && this != DATABASE_URL;
    }

    static Optional<Setting> byKey(String key) {
        return Arrays.stream(values())
                .filter(setting -> setting.key.equals(key))
                .findFirst();
    }

    static List<String> keys() {
        return Arrays.stream(values()).map(Setting::key).toList();
    }
}
