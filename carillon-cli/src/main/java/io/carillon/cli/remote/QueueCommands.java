package io.carillon.cli.remote;

import static io.carillon.cli.remote.flags.JsonBody.emptyBody;
import static io.carillon.cli.remote.flags.JsonBody.putIfGiven;

import io.carillon.cli.answer.Printer;
import io.carillon.cli.answer.ScheduleRow;
import io.carillon.cli.client.ApiClient;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Program;
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
        description = "Show queues, and set their pause, limits, weight and breaker.",
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false)
final class QueueCommands extends RemoteCommandGroup {
    private static final List<String> COLUMNS =
            List.of("name", "state", "waiting", "running", "maxRunning", "perSecond", "weight", "breaker");

    private static final List<String> STATS_COLUMNS = List.of("waiting", "running", "dead", "quarantined");

    QueueCommands(Shell shell) {
        super(shell);
    }

    @Command(description = "List queues with their waiting and running runs.", sortOptions = false)
    int list(@Option(names = "--watch", description = "Print again on each change, until Ctrl-C.") boolean watch) {
        ApiClient apiClient = client();
        Printer printer = printer().rows(QueueCommands::row);
        return showList(
                watch,
                printer,
                () -> apiClient.get("/v1/queues").path("items").valueStream().toList(),
                "name",
                COLUMNS);
    }

    /** The state of the queue itself; its breaker has a column of its own. */
    private static JsonNode row(JsonNode queue) {
        return counted(queue)
                .put("breaker", queue.path("breaker").path("state").stringValue("-"))
                .put("state", state(queue));
    }

    /** The queue with its state behind its name, and its breaker in detail. */
    private static JsonNode item(JsonNode queue) {
        ObjectNode item = emptyBody()
                .put("name", queue.path("name").stringValue(""))
                .put("state", queue.hasNonNull("paused") ? "paused" : "active");
        return item.setAll(counted(queue));
    }

    private static String state(JsonNode queue) {
        return queue.hasNonNull("paused") ? ScheduleRow.paused(queue.path("paused")) : "active";
    }

    /** The queue with {@code 7+} instead of 7 if the server did not count further. */
    private static ObjectNode counted(JsonNode counts) {
        String more = counts.path("more").booleanValue(false) ? "+" : "";
        ObjectNode counted = ((ObjectNode) counts.deepCopy())
                .put("waiting", counts.path("waiting").asString() + more)
                .put("running", counts.path("running").asString() + more);
        counted.remove("more");
        return counted;
    }

    @Command(description = "Show a queue.", sortOptions = false)
    int get(
            @Parameters(paramLabel = "NAME", description = "Name of the queue.") String name,
            @Option(names = "--watch", description = "Print again on each change, until Ctrl-C.") boolean watch) {
        return showItem(watch, QueueCommands::item, "name", "queues", name);
    }

    @Command(description = "Count the waiting, running, dead and quarantined runs of all queues.", sortOptions = false)
    int stats(@Option(names = "--watch", description = "Print again on each change, until Ctrl-C.") boolean watch) {
        ApiClient apiClient = client();
        Printer printer = printer().rows(QueueCommands::counted);
        return show(watch, () -> printer.listText(List.of(apiClient.get("/v1/stats")), "waiting", STATS_COLUMNS));
    }

    @Command(description = "Pause a queue: none of its runs starts until it is resumed.", sortOptions = false)
    int pause(
            @Parameters(paramLabel = "NAME", description = "Name of the queue.") String name,
            @Option(names = "--reason", paramLabel = "TEXT", description = "Reason, shown with the pause.") @Nullable
                    String reason) {
        return printChange(
                "Paused %s.".formatted(name),
                client().post(ApiClient.path("queues", name, "pause"), putIfGiven(emptyBody(), "reason", reason)));
    }

    @Command(description = "Resume a queue.", sortOptions = false)
    int resume(@Parameters(paramLabel = "NAME", description = "Name of the queue.") String name) {
        return printChange(
                "Resumed %s.".formatted(name), client().post(ApiClient.path("queues", name, "resume"), emptyBody()));
    }

    /** Prints the result; a queue without runs may be a misspelled one, because each name is a queue. */
    private int printChange(String sentence, JsonNode queue) {
        printer().printResult(sentence, queue, "name");
        if (queue.path("waiting").intValue(0) + queue.path("running").intValue(0) == 0)
            shell.err()
                    .println(Program.inText(
                            ("Note: the queue '%s' has no waiting or running runs. 'carillon queue list' shows those "
                                            + "that have.")
                                    .formatted(queue.path("name").stringValue(""))));
        return ExitCode.OK;
    }

    @Command(
            description = "Set the weight of a queue: its share of the starts compared with other queues.",
            sortOptions = false)
    int weight(
            @Parameters(paramLabel = "NAME", description = "Name of the queue.") String name,
            @Parameters(paramLabel = "WEIGHT", description = "Weight, 1 to 100.") int weight) {
        JsonNode queue = client().put(
                        ApiClient.path("queues", name, "weight"), emptyBody().put("weight", weight), Map.of())
                .body();
        return printChange("Set the weight of %s to %d.".formatted(name, weight), queue);
    }

    @Command(
            description = "Set whether a queue has a breaker, which holds it back while most of its attempts fail.",
            sortOptions = false)
    int breaker(
            @Parameters(paramLabel = "NAME", description = "Name of the queue.") String name,
            @Parameters(paramLabel = "on|off", description = "Default: on for the queue of an endpoint, otherwise off.")
                    String setting) {
        if (!setting.equals("on") && !setting.equals("off"))
            throw new UsageException("The breaker must be on or off (was %s).".formatted(setting));
        JsonNode queue = client().put(
                        ApiClient.path("queues", name, "breaker"),
                        emptyBody().put("enabled", setting.equals("on")),
                        Map.of())
                .body();
        return printChange("Turned the breaker of %s %s.".formatted(name, setting), queue);
    }

    @Command(
            description = "Limit a queue, on all nodes together. A limit that is not given is removed.",
            sortOptions = false)
    int limit(
            @Parameters(paramLabel = "NAME", description = "Name of the queue.") String name,
            @Option(names = "--running", paramLabel = "N", description = "Maximum number of runs at a time.") @Nullable
                    Integer running,
            @Option(
                            names = "--per-second",
                            paramLabel = "RATE",
                            description = "Maximum number of starts per second, such as 10 or 0.5.")
                    @Nullable
                    Double rate,
            @Option(names = "--none", description = "Remove all limits.") boolean none) {
        if (none == (running != null || rate != null))
            throw new UsageException("Give --running, --per-second or both; or --none.");
        ObjectNode body = emptyBody();
        if (running != null) body.put("maxRunning", running);
        if (rate != null) body.put("perSecond", rate);
        JsonNode queue = client().put(ApiClient.path("queues", name, "limits"), body, Map.of())
                .body();
        String sentence = none ? "Removed the limits of %s." : "Set the limits of %s.";
        return printChange(sentence.formatted(name), queue);
    }
}
