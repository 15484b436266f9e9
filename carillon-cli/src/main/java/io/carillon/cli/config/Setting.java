package io.carillon.cli.config;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** A setting of the server: its name in files, its flag, its variable, and what it is unless somebody says otherwise. */
public enum Setting {
    DATABASE_URL("database.url", "--database-url", "DATABASE_URL", "", true),
    LISTEN("listen", "--listen", "CARILLON_LISTEN", "127.0.0.1:8080", false),
    ROLE("role", "--role", "CARILLON_ROLE", "both", false),
    LOG("log", "--log", "CARILLON_LOG", "text", false),
    NODE("node", "--node", "CARILLON_NODE", "", false),
    CONCURRENCY("concurrency", "--concurrency", "CARILLON_CONCURRENCY", "", false),
    DRAIN("drain", "--drain", "CARILLON_DRAIN", "30s", false),
    WAKEUP("wakeup", "--wakeup", "CARILLON_WAKEUP", "notify", false),
    ENGINE_POOL("engine-pool", "--engine-pool", "CARILLON_ENGINE_POOL", "10", false),
    REQUEST_POOL("request-pool", "--request-pool", "CARILLON_REQUEST_POOL", "20", false),
    MASTER_KEYS_FILE("master-keys-file", "--master-keys-file", "CARILLON_MASTER_KEYS_FILE", "", false),
    WEBHOOK_ALLOW("webhook-allow", "--webhook-allow", "CARILLON_WEBHOOK_ALLOW", "", false),
    WEBHOOK_DENY("webhook-deny", "--webhook-deny", "CARILLON_WEBHOOK_DENY", "", false);

    private final String key;
    private final String flag;
    private final String variable;
    private final String usual;
    private final boolean secret;

    Setting(String key, String flag, String variable, String usual, boolean secret) {
        this.key = key;
        this.flag = flag;
        this.variable = variable;
        this.usual = usual;
        this.secret = secret;
    }

    /** Its name in a file. */
    public String key() {
        return key;
    }

    /** Its flag. */
    public String flag() {
        return flag;
    }

    /** Its variable; a secret may stand in the file that the variable with {@code _FILE} names. */
    public String variable() {
        return variable;
    }

    /** What it is unless somebody says otherwise; empty: nothing. */
    String usual() {
        return usual;
    }

    boolean isSecret() {
        return secret;
    }

    static Optional<Setting> of(String key) {
        return Arrays.stream(values())
                .filter(setting -> setting.key.equals(key))
                .findFirst();
    }

    static List<String> keys() {
        return Arrays.stream(values()).map(Setting::key).toList();
    }
}
