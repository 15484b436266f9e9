package io.carillon.cli.remote;

import io.carillon.cli.answer.Printer;
import io.carillon.cli.client.Client;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Shell;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** {@code carillon node}. */
@Command(
        name = "node",
        description = "Look at nodes and their health, and tick where none runs; for keys of the project 'default'.",
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false)
final class NodeCommands extends RemoteGroup {
    private static final List<String> COLUMNS =
            List.of("name", "alive", "busy", "slots", "wakeup", "host", "version", "startedAt", "beatAt", "deadWhy");

    NodeCommands(Shell shell) {
        super(shell);
    }

    @Command(description = "List nodes that live, and those that died within the hour.", sortOptions = false)
    int list(@Option(names = "--watch", description = "Show them anew when they change, until Ctrl-C.") boolean watch) {
        Client client = client();
        Printer printer = printer();
        return shown(
                watch,
                () -> printer.listed(
                        client.get("/v1/nodes").path("items").valueStream().toList(), "name", COLUMNS));
    }

    @Command(
            description = "Plan and execute what is due, once, in the server's process; for a cron where no node runs.",
            sortOptions = false)
    int tick(
            @Option(
                            names = "--budget",
                            paramLabel = "DURATION",
                            defaultValue = "20s",
                            description = "How long at most, up to 25s. Default: ${DEFAULT-VALUE}.")
                    String budget) {
        JsonNode done = client().post("/v1/tick", body().put("budget", budget));
        printer()
                .done(
                        "%s runs were processed, %s errors.".formatted(done.path("processed"), done.path("errors")),
                        done,
                        "processed");
        return ExitCode.OK;
    }

    @Command(
            description = "Say what is wrong and what to do. Exit code 0: nothing is, 1: something is.",
            sortOptions = false)
    int health() {
        JsonNode health = client().get("/v1/health");
        boolean healthy = health.path("healthy").booleanValue(false);
        StringBuilder text = new StringBuilder(healthy ? "Nothing is wrong." : "");
        for (JsonNode issue : health.path("issues"))
            text.append(text.isEmpty() ? "" : "; ").append(issue.stringValue(""));
        printer().done(text.toString(), health, "kinds");
        return healthy ? ExitCode.OK : ExitCode.FAILED;
    }
}
