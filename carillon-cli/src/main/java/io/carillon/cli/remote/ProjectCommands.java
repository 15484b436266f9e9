package io.carillon.cli.remote;

import static io.carillon.cli.remote.flags.JsonBody.emptyBody;
import static io.carillon.cli.remote.flags.JsonBody.putIfGiven;

import io.carillon.cli.answer.KeyPrinter;
import io.carillon.cli.client.ApiClient;
import io.carillon.cli.remote.flags.ListFlags;
import io.carillon.cli.remote.flags.QuotaFlags;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code carillon project}. */
@Command(
        name = "project",
        description = "Create projects, set their quotas and settings. For admins of the project 'default'.",
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false)
final class ProjectCommands extends RemoteCommandGroup {
    private static final List<String> COLUMNS = List.of(
            "name",
            "ownerName",
            "createdAt",
            "quota.requestsPerSecond",
            "quota.maxSchedules",
            "quota.maxWaiting",
            "quota.maxBulkActions",
            "quota.maxStreams",
            "quota.maxEndpoints",
            "quota.maxSubscriptions");

    ProjectCommands(Shell shell) {
        super(shell);
    }

    @Command(description = "Create a project and its first API key, which is printed only once.", sortOptions = false)
    int create(
            @Parameters(paramLabel = "NAME") String name,
            @Option(
                            names = "--owner",
                            paramLabel = "USER",
                            description = "Id of the user who owns the project and is its first admin. Default: none.")
                    @Nullable
                    String owner,
            @Option(
                            names = "--to",
                            paramLabel = "FILE",
                            description = "File for the key, readable only by you. The key is then not printed.")
                    @Nullable
                    String file) {
        JsonNode made = client().post("/v1/projects", putIfGiven(emptyBody().put("name", name), "owner", owner));
        return new KeyPrinter(shell, printer()).show(made, "name", file);
    }

    @Command(
            description = "List the projects that you may read: all for admins of 'default', otherwise your own.",
            sortOptions = false)
    int list(@Mixin ListFlags flags) {
        return list(flags, "/v1/projects", "name", COLUMNS);
    }

    @Command(description = "Show a project.", sortOptions = false)
    int get(
            @Parameters(paramLabel = "NAME") String name,
            @Option(names = "--watch", description = "Print again on each change, until Ctrl-C.") boolean watch) {
        return showItem(watch, "name", "projects", name);
    }

    @Command(
            description = "Set the quota of a project. Options that are not given return to the server's default.",
            sortOptions = false)
    int quota(@Parameters(paramLabel = "NAME") String name, @Mixin QuotaFlags flags) {
        JsonNode project = client().put(ApiClient.path("projects", name, "quota"), flags.body(), Map.of())
                .body();
        printer().printResult("Set the quota of %s.".formatted(name), project, "name");
        return ExitCode.OK;
    }

    @Command(description = "Change settings of a project. Also for admins of the project itself.", sortOptions = false)
    int settings(
            @Parameters(paramLabel = "NAME") String name,
            @Option(
                            names = "--ad-hoc-urls",
                            arity = "1",
                            paramLabel = "true|false",
                            description = "Whether webhooks may call URLs that are not endpoints. Default: true.")
                    @Nullable
                    Boolean adHocUrls,
            @Option(
                            names = "--owner",
                            paramLabel = "USER",
                            description =
                                    "Id of the user who owns the project from now on, and becomes an admin of it.")
                    @Nullable
                    String owner) {
        if (adHocUrls == null && owner == null)
            throw new UsageException("Name a setting to change: --ad-hoc-urls or --owner.");
        ObjectNode body = putIfGiven(emptyBody(), "owner", owner);
        if (adHocUrls != null) body.put("allowAdHocUrls", adHocUrls);
        JsonNode project = client().put(ApiClient.path("projects", name, "settings"), body, Map.of())
                .body();
        printer().printResult("Set the settings of %s.".formatted(name), project, "name");
        return ExitCode.OK;
    }
}
