package io.carillon.cli.remote;

import static io.carillon.cli.remote.flags.JsonBody.emptyBody;
import static io.carillon.cli.remote.flags.JsonBody.putIfGiven;

import io.carillon.cli.client.ApiClient;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.SecretFiles;
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
        description = "Create, rotate and delete the secrets that webhooks use.",
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false)
final class SecretCommands extends RemoteCommandGroup {
    private static final String TO_DESCRIPTION =
            "File for the secret, readable only by you. The secret is then not printed.";
    private static final String FROM_DESCRIPTION =
            "File with the secret to store, instead of a generated signing secret; - is standard input.";
    private static final List<String> COLUMNS = List.of("name", "kind", "createdAt", "rotatedAt", "previousUntil");

    SecretCommands(Shell shell) {
        super(shell);
    }

    @Command(
            description = "Create a signing secret, which is printed only once, or store an existing secret.",
            sortOptions = false)
    int create(
            @Parameters(paramLabel = "NAME") String name,
            @Option(names = "--from", paramLabel = "FILE", description = FROM_DESCRIPTION) @Nullable String from,
            @Option(names = "--to", paramLabel = "FILE", description = TO_DESCRIPTION) @Nullable String to) {
        return createAndShow("/v1/secrets", withValue(emptyBody().put("name", name), from), from, to);
    }

    @Command(description = "List secrets. Their values are not shown.", sortOptions = false)
    int list(
            @Option(
                            names = "--limit",
                            paramLabel = "N",
                            defaultValue = "100",
                            description = "Maximum number of items. Default: ${DEFAULT-VALUE}.")
                    int limit) {
        return list(false, new ListRequest("/v1/secrets", Map.of(), limit), "name", COLUMNS);
    }

    @Command(description = "Show a secret. Its value is not shown.", sortOptions = false)
    int get(@Parameters(paramLabel = "NAME") String name) {
        printer().printItem(client().get(ApiClient.path("secrets", name)), "name");
        return ExitCode.OK;
    }

    @Command(
            description = "Replace a secret by a generated or an existing one. The old secret also signs for the time "
                    + "of --overlap.",
            sortOptions = false)
    int rotate(
            @Parameters(paramLabel = "NAME") String name,
            @Option(
                            names = "--overlap",
                            paramLabel = "DURATION",
                            description = "Time for which the old secret also signs. Default: 24h.")
                    @Nullable
                    String overlap,
            @Option(names = "--from", paramLabel = "FILE", description = FROM_DESCRIPTION) @Nullable String from,
            @Option(names = "--to", paramLabel = "FILE", description = TO_DESCRIPTION) @Nullable String to) {
        return createAndShow(
                ApiClient.path("secrets", name, "rotate"),
                withValue(putIfGiven(emptyBody(), "overlap", overlap), from),
                from,
                to);
    }

    private static ObjectNode withValue(ObjectNode body, @Nullable String from) {
        return from == null ? body : body.put("value", SecretFiles.read("--from", from));
    }

    /** Prints a generated secret. A secret that the caller gave is not printed. */
    private int createAndShow(String path, ObjectNode body, @Nullable String from, @Nullable String to) {
        var made = client().post(path, body);
        if (from == null) return new SecretPrinter(shell, printer()).show(made, "value", "name", to);
        printer().printResult("Stored %s.".formatted(made.path("name").stringValue("")), made, "name");
        return ExitCode.OK;
    }

    @Command(description = "Delete a secret. Webhooks that use it fail from then on.", sortOptions = false)
    int delete(@Parameters(paramLabel = "NAME") String name) {
        return deleteItem("Deleted %s.".formatted(name), "name", name, ApiClient.path("secrets", name));
    }
}
