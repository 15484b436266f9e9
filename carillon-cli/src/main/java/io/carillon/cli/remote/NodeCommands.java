package io.carillon.cli.remote;

import static io.carillon.cli.remote.flags.JsonBody.emptyBody;

import io.carillon.cli.answer.Printer;
import io.carillon.cli.client.ApiClient;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Shell;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** {@code carillon node}. */
@Command(
        name = "node",
        description = "Show nodes and their health, and execute due runs if no node is running. For keys of the "
                + "project 'default'.",
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false)
final class NodeCommands extends RemoteCommandGroup {
    private static final List<String> COLUMNS = List.of(
            "name", "alive", "busy", "slots", "wakeup", "host", "version", "startedAt", "beatAt", "deadWhy", "id");

    NodeCommands(Shell shell) {
        super(shell);
    }

    @Command(description = "List live nodes, and nodes that died within the last hour.", sortOptions = false)
    int list(@Option(names = "--watch", description = "Print again on each change, until Ctrl-C.") boolean watch) {
        ApiClient apiClient = client();
        Printer printer = printer();
        return showList(
                watch,
                printer,
                () -> apiClient.get("/v1/nodes").path("items").valueStream().toList(),
                "name",
                printer.isWide() ? COLUMNS : COLUMNS.subList(0, COLUMNS.size() - 1));
    }

    @Command(
            name = "run-due",
            description =
                    "Plan and execute due runs once, in the server's process. Use it from a crontab if no node is "
                            + "running.",
            sortOptions = false)
    int runDue(
            @Option(
                            names = "--budget",
                            paramLabel = "DURATION",
                            defaultValue = "20s",
                            description = "Maximum duration, up to 25s. Default: ${DEFAULT-VALUE}.")
                    String budget) {
        JsonNode done = client().post("/v1/run-due", emptyBody().put("budget", budget));
        printer()
                .printResult(
                        "%s runs were processed, %s errors.".formatted(done.path("processed"), done.path("errors")),
                        done,
                        "processed");
        return ExitCode.OK;
    }

    @Command(
            description = "Report problems with their remedy. Exit code 0: no problems, 1: at least one problem.",
            sortOptions = false)
    int health() {
        JsonNode health = client().get("/v1/health");
        boolean healthy = health.path("healthy").booleanValue(false);
        StringBuilder text = new StringBuilder(healthy ? "No problems." : "");
        for (JsonNode issue : health.path("issues"))
            text.append(text.isEmpty() ? "" : "\n").append(issue.stringValue(""));
        printer().printResult(text.toString(), health, "kinds");
        return healthy ? ExitCode.OK : ExitCode.FAILED;
    }
}
