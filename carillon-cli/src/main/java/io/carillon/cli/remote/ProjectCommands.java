package io.carillon.cli.remote;

import static io.carillon.cli.remote.flags.JsonBody.emptyBody;
import static io.carillon.cli.remote.flags.JsonBody.putIfGiven;

import io.carillon.cli.client.ApiClient;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Shell;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
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
            "owner",
            "createdAt",
            "quota.requestsPerSecond",
            "quota.maxSchedules",
            "quota.maxWaiting",
            "quota.maxBulkActions",
            "quota.maxStreams");

    ProjectCommands(Shell shell) {
        super(shell);
    }

    @Command(description = "Create a project and its first API key, which is printed only once.", sortOptions = false)
    int create(
            @Parameters(paramLabel = "NAME") String name,
            @Option(names = "--owner", paramLabel = "TEXT", description = "Contact for the project.") @Nullable
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

    @Command(description = "List projects.", sortOptions = false)
    int list(
            @Option(
                            names = "--limit",
                            paramLabel = "N",
                            defaultValue = "100",
                            description = "Maximum number of items. Default: ${DEFAULT-VALUE}.")
                    int limit) {
        return list(false, new ListRequest("/v1/projects", Map.of(), limit), "name", COLUMNS);
    }

    @Command(description = "Show a project.", sortOptions = false)
    int get(@Parameters(paramLabel = "NAME") String name) {
        printer().printItem(client().get(ApiClient.path("projects", name)), "name");
        return ExitCode.OK;
    }

    @Command(
            description = "Set the quota of a project. Options that are not given return to the server's default.",
            sortOptions = false)
    int quota(
            @Parameters(paramLabel = "NAME") String name,
            @Option(
                            names = "--requests-per-second",
                            paramLabel = "RATE",
                            description = "Maximum number of requests per second on each node.")
                    @Nullable
                    Double requests,
            @Option(names = "--max-schedules", paramLabel = "N", description = "Maximum number of schedules.") @Nullable
                    Integer schedules,
            @Option(
                            names = "--max-waiting",
                            paramLabel = "N",
                            description = "Maximum number of waiting and running runs.")
                    @Nullable
                    Long waiting,
            @Option(
                            names = "--max-bulk-actions",
                            paramLabel = "N",
                            description = "Maximum number of running bulk actions.")
                    @Nullable
                    Integer bulkActions,
            @Option(
                            names = "--max-streams",
                            paramLabel = "N",
                            description = "Maximum number of open event streams on each node.")
                    @Nullable
                    Integer streams) {
        ObjectNode body = emptyBody();
        if (requests != null) body.put("requestsPerSecond", requests);
        if (schedules != null) body.put("maxSchedules", schedules);
        if (waiting != null) body.put("maxWaiting", waiting);
        if (bulkActions != null) body.put("maxBulkActions", bulkActions);
        if (streams != null) body.put("maxStreams", streams);
        JsonNode project = client().put(ApiClient.path("projects", name, "quota"), body, Map.of())
                .body();
        printer().printResult("Set the quota of %s.".formatted(name), project, "name");
        return ExitCode.OK;
    }

    @Command(description = "Change settings of a project. Also for admins of the project itself.", sortOptions = false)
    int settings(
            @Parameters(paramLabel = "NAME") String name,
            @Option(
                            names = "--ad-hoc-urls",
                            required = true,
                            arity = "1",
                            paramLabel = "true|false",
                            description = "Whether webhooks may call URLs that are not endpoints. Default: true.")
                    boolean adHocUrls) {
        JsonNode project = client().put(
                        ApiClient.path("projects", name, "settings"),
                        emptyBody().put("allowAdHocUrls", adHocUrls),
                        Map.of())
                .body();
        printer().printResult("Set the settings of %s.".formatted(name), project, "name");
        return ExitCode.OK;
    }
}
