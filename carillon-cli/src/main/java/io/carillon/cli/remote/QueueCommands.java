package io.carillon.cli.remote;

import io.carillon.cli.answer.Printer;
import io.carillon.cli.client.Client;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code carillon queue}. */
@Command(
        name = "queue",
        description = "Look at queues, pause, limit and weigh them.",
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false)
final class QueueCommands extends RemoteGroup {
    private static final List<String> COLUMNS = List.of(
            "name", "waiting", "running", "maxRunning", "perSecond", "weight", "breaker.state", "paused.reason");

    private static final List<String> STATS = List.of("waiting", "running", "dead", "quarantined");

    QueueCommands(Shell shell) {
        super(shell);
    }

    @Command(description = "List queues with what waits and runs in them.", sortOptions = false)
    int list(@Option(names = "--watch", description = "Show them anew when they change, until Ctrl-C.") boolean watch) {
        Client client = client();
        Printer printer = printer();
        return shown(
                watch,
                () -> printer.listed(
                        client.get("/v1/queues").path("items").valueStream().toList(), "name", COLUMNS));
    }

    @Command(description = "Show one queue.", sortOptions = false)
    int get(
            @Parameters(paramLabel = "NAME") String name,
            @Option(names = "--watch", description = "Show it anew when it changes, until Ctrl-C.") boolean watch) {
        Client client = client();
        Printer printer = printer();
        return shown(watch, () -> printer.shown(client.get(Client.path("queues", name)), "name"));
    }

    @Command(description = "Count what waits and runs in all queues, and what is dead.", sortOptions = false)
    int stats(
            @Option(names = "--watch", description = "Show them anew when they change, until Ctrl-C.") boolean watch) {
        Client client = client();
        Printer printer = printer();
        return shown(watch, () -> printer.listed(List.of(client.get("/v1/stats")), "waiting", STATS));
    }

    @Command(description = "Start nothing of a queue until it is resumed.", sortOptions = false)
    int pause(
            @Parameters(paramLabel = "NAME") String name,
            @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for those who wonder later.") @Nullable
                    String reason) {
        return changed(
                "Paused %s.".formatted(name),
                "name",
                Client.path("queues", name, "pause"),
                with(body(), "reason", reason));
    }

    @Command(description = "Resume a queue.", sortOptions = false)
    int resume(@Parameters(paramLabel = "NAME") String name) {
        return changed("Resumed %s.".formatted(name), "name", Client.path("queues", name, "resume"), body());
    }

    @Command(description = "Give a queue so many parts of what nodes start where others have one.", sortOptions = false)
    int weigh(
            @Parameters(paramLabel = "NAME") String name,
            @Parameters(paramLabel = "WEIGHT", description = "1 to 100.") int weight) {
        JsonNode queue = client().put(Client.path("queues", name, "weight"), body().put("weight", weight), Map.of())
                .body();
        printer().done("%s weighs %d.".formatted(name, weight), queue, "name");
        return ExitCode.OK;
    }

    @Command(description = "Limit a queue, on all nodes together; what is not said has no limit.", sortOptions = false)
    int limit(
            @Parameters(paramLabel = "NAME") String name,
            @Option(names = "--running", paramLabel = "N", description = "At most so many at a time.") @Nullable
                    Integer running,
            @Option(
                            names = "--per-second",
                            paramLabel = "RATE",
                            description = "At most so many starts a second, such as 10 or 0.5.")
                    @Nullable
                    Double rate,
            @Option(names = "--none", description = "Lift all limits.") boolean none) {
        if (none == (running != null || rate != null))
            throw new UsageException("Which limit? Say --running, --per-second or both; or --none.");
        ObjectNode body = body();
        if (running != null) body.put("maxRunning", running);
        if (rate != null) body.put("perSecond", rate);
        JsonNode queue = client().put(Client.path("queues", name, "limits"), body, Map.of())
                .body();
        printer().done((none ? "Lifted the limits of %s." : "Limited %s.").formatted(name), queue, "name");
        return ExitCode.OK;
    }
}
