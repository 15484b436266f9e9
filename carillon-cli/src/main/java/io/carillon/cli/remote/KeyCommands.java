package io.carillon.cli.remote;

import static io.carillon.cli.remote.flags.JsonBody.emptyBody;
import static io.carillon.cli.remote.flags.JsonBody.putIfGiven;

import io.carillon.cli.answer.KeyPrinter;
import io.carillon.cli.client.ApiClient;
import io.carillon.cli.remote.flags.AllowedValues;
import io.carillon.cli.remote.flags.ListFlags;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.SecretFiles;
import io.carillon.cli.shell.Shell;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.ObjectNode;

/** {@code carillon key}. */
@Command(
        name = "key",
        description = "Create, rotate and revoke the API keys of the project.",
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false)
final class KeyCommands extends RemoteCommandGroup {
    private static final String TO_DESCRIPTION = "File for the key, readable only by you. The key is then not printed.";
    private static final List<String> COLUMNS = List.of(
            "id",
            "name",
            "scopes",
            "queues",
            "handlers",
            "endpoints",
            "addresses",
            "createdAt",
            "expiresAt",
            "usedAt",
            "revokedAt");

    KeyCommands(Shell shell) {
        super(shell);
    }

    @Command(description = "Create an API key. It is printed only once.", sortOptions = false)
    int create(
            @Parameters(paramLabel = "NAME", description = "Name that states the purpose of the key.") String name,
            @Option(
                            names = "--scope",
                            paramLabel = "SCOPE",
                            split = ",",
                            required = true,
                            description = "Scopes, separated by commas: read, enqueue, manage or admin.")
                    List<String> scopes,
            @Option(
                            names = "--expires",
                            paramLabel = "INSTANT",
                            description =
                                    "Instant at which the key expires. Default: as late as your own key and the server "
                                            + "allow.")
                    @Nullable
                    String expires,
            @Option(
                            names = "--allow-address",
                            paramLabel = "RANGE",
                            split = ",",
                            description = "Addresses from which the key may be used, such as 10.0.0.0/8, separated by "
                                    + "commas. Default: those of your own key.")
                    @Nullable
                    List<String> addresses,
            @Option(
                            names = "--queue",
                            paramLabel = "NAME",
                            split = ",",
                            description = "Queues that the key is restricted to: names, or prefixes such as orders.*, "
                                    + "separated by commas. Default: all.")
                    @Nullable
                    List<String> queues,
            @Option(
                            names = "--handler",
                            paramLabel = "NAME",
                            split = ",",
                            description = "Handlers that the key is restricted to, in the same form. Default: all.")
                    @Nullable
                    List<String> handlers,
            @Option(
                            names = "--endpoint",
                            paramLabel = "NAME",
                            split = ",",
                            description = "Endpoints that the key is restricted to, in the same form, in addition to "
                                    + "the queues and handlers. Default: all.")
                    @Nullable
                    List<String> endpoints,
            @Option(names = "--to", paramLabel = "FILE", description = TO_DESCRIPTION) @Nullable String file) {
        for (String scope : scopes)
            AllowedValues.require("--scope", scope, List.of("read", "enqueue", "manage", "admin"));
        ObjectNode body = putIfGiven(emptyBody().put("name", name), "expiresAt", expires);
        scopes.forEach(body.putArray("scopes")::add);
        putList(body, "addresses", addresses);
        putList(body, "queues", queues);
        putList(body, "handlers", handlers);
        putList(body, "endpoints", endpoints);
        return new KeyPrinter(shell, printer()).show(client().post("/v1/keys", body), "id", file);
    }

    private static void putList(ObjectNode body, String field, @Nullable List<String> values) {
        if (values != null) values.forEach(body.putArray(field)::add);
    }

    @Command(description = "List API keys. The keys themselves are not shown.", sortOptions = false)
    int list(@Mixin ListFlags flags) {
        return list(flags, "/v1/keys", "id", COLUMNS);
    }

    @Command(description = "Show an API key. The key itself is not shown.", sortOptions = false)
    int get(
            @Parameters(paramLabel = "ID") String id,
            @Option(names = "--watch", description = "Print again on each change, until Ctrl-C.") boolean watch) {
        return showItem(watch, "id", "keys", id);
    }

    @Command(
            description = "Create a new key with the same scopes and limits, such as the expiry. The old key stays "
                    + "valid for the time of --overlap.",
            sortOptions = false)
    int rotate(
            @Parameters(paramLabel = "ID") String id,
            @Option(
                            names = "--overlap",
                            paramLabel = "DURATION",
                            description = "Time for which the old key stays valid. Default: 24h.")
                    @Nullable
                    String overlap,
            @Option(names = "--to", paramLabel = "FILE", description = TO_DESCRIPTION) @Nullable String file) {
        return new KeyPrinter(shell, printer())
                .show(
                        client().post(
                                        ApiClient.path("keys", id, "rotate"),
                                        putIfGiven(emptyBody(), "overlap", overlap)),
                        "id",
                        file);
    }

    @Command(
            name = "revoke-by-value",
            description =
                    "Revoke a leaked API key by its value, without any other key. The server does not say whether "
                            + "there was such a key.",
            sortOptions = false)
    int revokeByValue(
            @Parameters(paramLabel = "FILE", description = "File with the leaked key; - is standard input.")
                    String file) {
        // The key is public already, so other users may read the file.
        String key = SecretFiles.readText("FILE", file);
        client().post("/v1/keys:revoke-by-value", emptyBody().put("key", key));
        shell.out().println("If the key exists, it is revoked now. All nodes reject it after at most 5 seconds.");
        return ExitCode.OK;
    }

    @Command(description = "Revoke an API key. All nodes reject it after at most 5 seconds.", sortOptions = false)
    int revoke(@Parameters(paramLabel = "ID") String id) {
        return deleteItem("Revoked %s.".formatted(id), "id", id, ApiClient.path("keys", id));
    }
}
