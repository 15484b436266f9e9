package io.carillon.cli.config;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A setting of the server, in one place: its name in files, from which its flag and its variable follow, what may be said, what it is unless somebody says
 * otherwise, and what it means. A secret has no flag that would show it to whoever lists processes; its flag names a file.
 */
public enum Setting {
    DATABASE_URL(
            "database.url",
            "URL",
            "",
            "postgres://user:password@host:5432/database or a jdbc:postgresql: URL. Default: $DATABASE_URL, $DATABASE_URL_FILE or $PGHOST and its kin."),
    SCHEMA(
            "schema",
            "auto|validate|off|print",
            "auto",
            "What to do about the tables: bring them up to date, only check them, not look, or print the SQL that is missing and end."),
    LISTEN(
            "listen",
            "[HOST:]PORT",
            "127.0.0.1:8080",
            "Where to listen. Other addresses than the loopback are refused until a key was made."),
    ROLE("role", "api|engine|both", "both", "What this process does: answers requests, plans and executes, or both."),
    LOG("log", "text|json", "text", "Log lines for people, or one JSON object a line; on standard error."),
    NODE("node", "NAME", "", "Name of this node; host and process unless said."),
    CONCURRENCY("concurrency", "N", "", "How many runs this node executes at a time."),
    LOOK_AHEAD("look-ahead", "DURATION", "2m", "How far ahead ticks of schedules are stored, 20s to 1h."),
    DRAIN("drain", "DURATION", "30s", "How long a stop waits for what runs, such as 30s or PT1M."),
    WAKEUP("wakeup", "notify|polling|http", "notify", "What wakes this node when there is work."),
    ENGINE_POOL("engine-pool", "N", "10", "Connections of the engine."),
    REQUEST_POOL("request-pool", "N", "20", "Connections for requests."),
    JWT_ISSUER("jwt.issuer", "TEXT", "", "Accept tokens of this issuer besides keys."),
    JWT_AUDIENCE("jwt.audience", "TEXT", "carillon", "For whom the tokens are meant."),
    JWT_JWKS("jwt.jwks", "URL", "", "Where the issuer shows the keys it signs with."),
    JWT_SECRET(
            "jwt.secret",
            "FILE",
            "",
            "File with the secret shared with the issuer, 32 bytes or more, where there is no --jwt-jwks."),
    AUDIT_KEPT("audit-kept", "DURATION", "365d", "How long lines of the audit log are kept, a day or more."),
    MASTER_KEYS(
            "master-keys",
            "FILE",
            "",
            "File with the keys that seal the secrets of webhooks, a line id:base64 for each, the current one first. Without keys there are no secrets."),
    WEBHOOK_ALLOW(
            "webhook-allow",
            "LIST",
            "",
            "Where webhooks may go besides public addresses: host:port or ranges such as 10.1.0.0/16, separated by commas."),
    WEBHOOK_DENY("webhook-deny", "LIST", "", "Ranges of addresses that webhooks never reach, separated by commas.");

    private final String key;
    private final String form;
    private final String usual;
    private final String means;

    Setting(String key, String form, String usual, String means) {
        this.key = key;
        this.form = form;
        this.usual = usual;
        this.means = means;
    }

    /** Its name in a file. */
    public String key() {
        return key;
    }

    /** Its flag. */
    public String flag() {
        String flag = "--" + key.replace('.', '-');
        return flagNamesFile() ? flag + "-file" : flag;
    }

    /** Its variable; a secret may stand in the file that the variable with {@code _FILE} names. */
    public String variable() {
        String name = key.replace('.', '_').replace('-', '_').toUpperCase(Locale.ROOT);
        // Everybody else's name for it.
        return this == DATABASE_URL ? name : "CARILLON_" + name;
    }

    /** What may be said: a few words with bars between them, or a name for anything. */
    String form() {
        return form;
    }

    /** What it means, for the help. */
    String means() {
        return usual.isEmpty() ? means : means + " Default: " + usual + ".";
    }

    /** The words of which one must be said. */
    List<String> words() {
        return List.of(form.split("\\|", -1));
    }

    /** What it is unless somebody says otherwise; empty: nothing. */
    String usual() {
        return usual;
    }

    boolean isSecret() {
        return this == DATABASE_URL || this == JWT_SECRET || this == MASTER_KEYS;
    }

    /** Whether the flag names a file that holds the value. */
    boolean flagNamesFile() {
        return isSecret() && this != DATABASE_URL;
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
