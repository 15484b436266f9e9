package io.carillon.cli.remote;

import io.carillon.cli.client.Client;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Shell;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.ObjectNode;

/** {@code carillon key}. */
@Command(
        name = "key",
        description = "Make, rotate and revoke the keys of the project.",
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false)
final class KeyCommands extends RemoteGroup {
    private static final String TO = "Write the key to this file, which only you can read, instead of showing it.";
    private static final List<String> COLUMNS =
            List.of("id", "name", "scopes", "createdAt", "expiresAt", "usedAt", "revokedAt");

    KeyCommands(Shell shell) {
        super(shell);
    }

    @Command(description = "Make a key. It is shown once.", sortOptions = false)
    int create(
            @Parameters(paramLabel = "NAME", description = "What it is for.") String name,
            @Option(
                            names = "--scope",
                            paramLabel = "SCOPE",
                            split = ",",
                            required = true,
                            description = "read, enqueue, manage or admin; several by commas.")
                    List<String> scopes,
            @Option(
                            names = "--expires",
                            paramLabel = "INSTANT",
                            description = "Until when it is valid; for good unless said.")
                    @Nullable
                    String expires,
            @Option(names = "--to", paramLabel = "FILE", description = TO) @Nullable String file) {
        for (String scope : scopes) Words.one("--scope", scope, List.of("read", "enqueue", "manage", "admin"));
        ObjectNode body = with(body().put("name", name), "expiresAt", expires);
        scopes.forEach(body.putArray("scopes")::add);
        return new FreshKey(shell, printer()).show(client().post("/v1/keys", body), "id", file);
    }

    @Command(description = "List keys; none of them is shown.", sortOptions = false)
    int list(
            @Option(
                            names = "--limit",
                            paramLabel = "N",
                            defaultValue = "100",
                            description = "How many at most. Default: ${DEFAULT-VALUE}.")
                    int limit) {
        return list(false, new Wanted("/v1/keys", Map.of(), limit), "id", COLUMNS);
    }

    @Command(description = "Show what is known of a key.", sortOptions = false)
    int get(@Parameters(paramLabel = "ID") String id) {
        printer().one(client().get(Client.path("keys", id)), "id");
        return ExitCode.OK;
    }

    @Command(
            description = "Make a new key of the same kind, while the old one goes on for a while.",
            sortOptions = false)
    int rotate(
            @Parameters(paramLabel = "ID") String id,
            @Option(
                            names = "--overlap",
                            paramLabel = "LENGTH",
                            description = "How long the old one goes on; 24h unless said.")
                    @Nullable
                    String overlap,
            @Option(names = "--to", paramLabel = "FILE", description = TO) @Nullable String file) {
        return new FreshKey(shell, printer())
                .show(client().post(Client.path("keys", id, "rotate"), with(body(), "overlap", overlap)), "id", file);
    }

    @Command(description = "Revoke a key; it opens nothing after five seconds, on any node.", sortOptions = false)
    int revoke(@Parameters(paramLabel = "ID") String id) {
        return gone("Revoked %s.".formatted(id), "id", id, Client.path("keys", id));
    }
}
