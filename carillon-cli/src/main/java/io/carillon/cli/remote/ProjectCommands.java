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
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code carillon project}. */
@Command(
        name = "project",
        description = "Make projects and set their quotas; for admins of the project 'default'.",
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false)
final class ProjectCommands extends RemoteGroup {
    private static final List<String> COLUMNS =
            List.of("name", "owner", "createdAt", "quota.requestsPerSecond", "quota.maxSchedules", "quota.maxWaiting");

    ProjectCommands(Shell shell) {
        super(shell);
    }

    @Command(description = "Make a project with its first key, which is shown once.", sortOptions = false)
    int create(
            @Parameters(paramLabel = "NAME") String name,
            @Option(names = "--owner", paramLabel = "TEXT", description = "Whom to ask about it.") @Nullable
                    String owner,
            @Option(
                            names = "--to",
                            paramLabel = "FILE",
                            description = "Write the key to this file, which only you can read, instead of showing it.")
                    @Nullable
                    String file) {
        JsonNode made = client().post("/v1/projects", with(body().put("name", name), "owner", owner));
        return new FreshKey(shell, printer()).show(made, "name", file);
    }

    @Command(description = "List projects.", sortOptions = false)
    int list(
            @Option(
                            names = "--limit",
                            paramLabel = "N",
                            defaultValue = "100",
                            description = "How many at most. Default: ${DEFAULT-VALUE}.")
                    int limit) {
        return list(false, new Wanted("/v1/projects", Map.of(), limit), "name", COLUMNS);
    }

    @Command(description = "Show one project.", sortOptions = false)
    int get(@Parameters(paramLabel = "NAME") String name) {
        printer().one(client().get(Client.path("projects", name)), "name");
        return ExitCode.OK;
    }

    @Command(description = "Set the quota of a project; what is not said is the server's default.", sortOptions = false)
    int quota(
            @Parameters(paramLabel = "NAME") String name,
            @Option(
                            names = "--requests-per-second",
                            paramLabel = "RATE",
                            description = "Requests a second on each node.")
                    @Nullable
                    Double requests,
            @Option(names = "--max-schedules", paramLabel = "N", description = "Schedules.") @Nullable
                    Integer schedules,
            @Option(names = "--max-waiting", paramLabel = "N", description = "Runs that wait or run.") @Nullable
                    Long waiting) {
        ObjectNode body = body();
        if (requests != null) body.put("requestsPerSecond", requests);
        if (schedules != null) body.put("maxSchedules", schedules);
        if (waiting != null) body.put("maxWaiting", waiting);
        JsonNode project = client().put(Client.path("projects", name, "quota"), body, Map.of())
                .body();
        printer().done("Set the quota of %s.".formatted(name), project, "name");
        return ExitCode.OK;
    }
}
