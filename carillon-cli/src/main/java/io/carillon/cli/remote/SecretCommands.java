package io.carillon.cli.remote;

import io.carillon.cli.client.Client;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Secrets;
import io.carillon.cli.shell.Shell;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.ObjectNode;

/** {@code carillon secret}. */
@Command(
        name = "secret",
        description = "Make, rotate and delete the secrets that webhooks name.",
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false)
final class SecretCommands extends RemoteGroup {
    private static final String TO = "Write the secret to this file, which only you can read, instead of showing it.";
    private static final String FROM =
            "Store what this file holds instead of making one to sign with; - is standard input.";
    private static final List<String> COLUMNS = List.of("name", "kind", "createdAt", "rotatedAt", "previousUntil");

    SecretCommands(Shell shell) {
        super(shell);
    }

    @Command(
            description = "Make a secret to sign with, which is shown once; or store one you have.",
            sortOptions = false)
    int create(
            @Parameters(paramLabel = "NAME") String name,
            @Option(names = "--from", paramLabel = "FILE", description = FROM) @Nullable String from,
            @Option(names = "--to", paramLabel = "FILE", description = TO) @Nullable String to) {
        return fresh("/v1/secrets", valued(body().put("name", name), from), from, to);
    }

    @Command(description = "List secrets; none of them is shown.", sortOptions = false)
    int list(
            @Option(
                            names = "--limit",
                            paramLabel = "N",
                            defaultValue = "100",
                            description = "How many at most. Default: ${DEFAULT-VALUE}.")
                    int limit) {
        return list(false, new Wanted("/v1/secrets", Map.of(), limit), "name", COLUMNS);
    }

    @Command(description = "Show what is known of a secret, but not the secret.", sortOptions = false)
    int get(@Parameters(paramLabel = "NAME") String name) {
        printer().one(client().get(Client.path("secrets", name)), "name");
        return ExitCode.OK;
    }

    @Command(
            description = "Make a new secret of this name, or store one; the old one signs as well for a while.",
            sortOptions = false)
    int rotate(
            @Parameters(paramLabel = "NAME") String name,
            @Option(
                            names = "--overlap",
                            paramLabel = "LENGTH",
                            description = "How long the old one signs as well; 24h unless said.")
                    @Nullable
                    String overlap,
            @Option(names = "--from", paramLabel = "FILE", description = FROM) @Nullable String from,
            @Option(names = "--to", paramLabel = "FILE", description = TO) @Nullable String to) {
        return fresh(Client.path("secrets", name, "rotate"), valued(with(body(), "overlap", overlap), from), from, to);
    }

    private static ObjectNode valued(ObjectNode body, @Nullable String from) {
        return from == null ? body : body.put("value", Secrets.read("--from", from));
    }

    /** What was given is not shown again. */
    private int fresh(String path, ObjectNode body, @Nullable String from, @Nullable String to) {
        var made = client().post(path, body);
        if (from == null) return new FreshKey(shell, printer()).show(made, "value", "name", to);
        printer().done("Stored %s.".formatted(made.path("name").stringValue("")), made, "name");
        return ExitCode.OK;
    }

    @Command(description = "Delete a secret; webhooks that name it fail from now on.", sortOptions = false)
    int delete(@Parameters(paramLabel = "NAME") String name) {
        return gone("Deleted %s.".formatted(name), "name", name, Client.path("secrets", name));
    }
}
