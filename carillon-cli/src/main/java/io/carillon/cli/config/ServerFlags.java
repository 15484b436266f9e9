package io.carillon.cli.config;

import io.carillon.cli.shell.Shell;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The flags of the server, for the command that starts it and the one that shows its settings. */
public final class ServerFlags {
    private final Map<Setting, String> given = new EnumMap<>(Setting.class);

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "Settings as 'key = value' lines; flags and the environment come before it. Default: $"
                    + Settings.FILE + ".")
    private @Nullable String file;

    @Option(
            names = "--database-url",
            paramLabel = "URL",
            description =
                    "postgres://user:password@host:5432/database or a jdbc:postgresql: URL. Default: $DATABASE_URL, $DATABASE_URL_FILE or $PGHOST and its kin.")
    void databaseUrl(String text) {
        given.put(Setting.DATABASE_URL, text);
    }

    @Option(
            names = "--listen",
            paramLabel = "[HOST:]PORT",
            description =
                    "Where to listen. Other addresses than the loopback are refused until a key was made. Default: 127.0.0.1:8080.")
    void listen(String text) {
        given.put(Setting.LISTEN, text);
    }

    @Option(
            names = "--role",
            paramLabel = "api|engine|both",
            description = "What this process does: answers requests, plans and executes, or both. Default: both.")
    void role(String text) {
        given.put(Setting.ROLE, text);
    }

    @Option(
            names = "--log",
            paramLabel = "text|json",
            description = "Log lines for people, or one JSON object a line; on standard error. Default: text.")
    void log(String text) {
        given.put(Setting.LOG, text);
    }

    @Option(names = "--node", paramLabel = "NAME", description = "Name of this node. Default: host and process.")
    void node(String text) {
        given.put(Setting.NODE, text);
    }

    @Option(names = "--concurrency", paramLabel = "N", description = "How many runs this node executes at a time.")
    void concurrency(String text) {
        given.put(Setting.CONCURRENCY, text);
    }

    @Option(
            names = "--drain",
            paramLabel = "DURATION",
            description = "How long a stop waits for what runs, such as 30s or PT1M. Default: 30s.")
    void drain(String text) {
        given.put(Setting.DRAIN, text);
    }

    @Option(
            names = "--wakeup",
            paramLabel = "notify|polling|http",
            description = "What wakes this node when there is work. Default: notify.")
    void wakeup(String text) {
        given.put(Setting.WAKEUP, text);
    }

    @Option(names = "--engine-pool", paramLabel = "N", description = "Connections of the engine. Default: 10.")
    void enginePool(String text) {
        given.put(Setting.ENGINE_POOL, text);
    }

    @Option(names = "--request-pool", paramLabel = "N", description = "Connections for requests. Default: 20.")
    void requestPool(String text) {
        given.put(Setting.REQUEST_POOL, text);
    }

    @Option(
            names = "--master-keys-file",
            paramLabel = "FILE",
            description =
                    "Keys that seal the secrets of webhooks, a line id:base64 for each, the current one first. Default: the keys in $CARILLON_MASTER_KEYS, or no secrets.")
    void masterKeysFile(String text) {
        given.put(Setting.MASTER_KEYS_FILE, text);
    }

    @Option(
            names = "--webhook-allow",
            paramLabel = "LIST",
            description =
                    "Where webhooks may go besides public addresses: host:port or ranges such as 10.1.0.0/16, separated by commas.")
    void webhookAllow(String text) {
        given.put(Setting.WEBHOOK_ALLOW, text);
    }

    @Option(
            names = "--webhook-deny",
            paramLabel = "LIST",
            description = "Ranges of addresses that webhooks never reach, separated by commas.")
    void webhookDeny(String text) {
        given.put(Setting.WEBHOOK_DENY, text);
    }

    /** All settings, with these in front. */
    public Settings settings(Shell shell) {
        return Settings.read(shell, given, file);
    }
}
