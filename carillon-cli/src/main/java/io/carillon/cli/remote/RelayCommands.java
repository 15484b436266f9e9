package io.carillon.cli.remote;

import static io.carillon.cli.remote.flags.JsonBody.emptyBody;

import io.carillon.cli.answer.Printer;
import io.carillon.cli.client.ApiClient;
import io.carillon.cli.remote.flags.ListFlags;
import io.carillon.cli.shell.Shell;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code carillon relay}. */
@Command(
        name = "relay",
        description = "Show relays and sources of events, and decide about rejected events.",
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false)
final class RelayCommands extends RemoteCommandGroup {
    private static final List<String> COLUMNS =
            List.of("name", "state", "lag", "oldest", "topic", "destination", "rejected", "node", "error");
    private static final List<String> REJECTED_COLUMNS = List.of("event", "key", "blocksKey", "rejectedAt", "reason");
    private static final List<String> SOURCE_COLUMNS =
            List.of("name", "partition", "next", "movedAt", "blockedSince", "reason");

    RelayCommands(Shell shell) {
        super(shell);
    }

    @Command(description = "List relays with their state and lag.", sortOptions = false)
    int list(@Mixin ListFlags flags) {
        return list(
                flags.watch(),
                new ListRequest("/v1/relays", Map.of(), flags.limit()),
                "name",
                COLUMNS,
                RelayCommands::row);
    }

    @Command(description = "List the partitions that sources read.", sortOptions = false)
    int sources(@Option(names = "--watch", description = "Print again on each change, until Ctrl-C.") boolean watch) {
        ApiClient apiClient = client();
        return showList(
                watch,
                printer(),
                () -> apiClient.get("/v1/sources").path("items").valueStream().toList(),
                "partition",
                SOURCE_COLUMNS);
    }

    /** The relay with its lag as a number. */
    private static JsonNode row(JsonNode relay) {
        JsonNode lag = relay.path("lag");
        return ((ObjectNode) relay.deepCopy())
                .put("lag", lag.path("count").asString() + (lag.path("more").booleanValue(false) ? "+" : ""))
                .put("oldest", lag.path("oldest").stringValue("-"));
    }

    @Command(description = "Show a relay with the events that its destination has rejected.", sortOptions = false)
    int get(
            @Parameters(paramLabel = "NAME", description = "Name of the relay.") String name,
            @Option(names = "--watch", description = "Print again on each change, until Ctrl-C.") boolean watch) {
        ApiClient apiClient = client();
        Printer printer = printer();
        return show(watch, () -> {
            JsonNode relay = apiClient.get(ApiClient.path("relays", name));
            if (!printer.isTable()) return printer.itemText(relay, "name");
            ObjectNode shown = (ObjectNode) relay.deepCopy();
            shown.remove("rejectedEvents");
            List<JsonNode> rejected = relay.path("rejectedEvents").valueStream().toList();
            return printer.itemText(shown, "name") + "\n\n"
                    + (rejected.isEmpty()
                            ? "No rejected events."
                            : printer.listText(rejected, "event", REJECTED_COLUMNS));
        });
    }

    @Command(description = "Send a rejected event again, then the events that wait behind it.", sortOptions = false)
    int retry(
            @Parameters(paramLabel = "NAME", description = "Name of the relay.") String name,
            @Parameters(paramLabel = "EVENT", description = "Id of the event.") String event) {
        return decide("%s sends %s again.".formatted(name, event), name, "retry", event);
    }

    @Command(description = "Never send a rejected event; send the events that wait behind it.", sortOptions = false)
    int skip(
            @Parameters(paramLabel = "NAME", description = "Name of the relay.") String name,
            @Parameters(paramLabel = "EVENT", description = "Id of the event.") String event) {
        return decide("%s skips %s.".formatted(name, event), name, "skip", event);
    }

    private int decide(String message, String name, String action, String event) {
        return postChange(
                message,
                "event",
                ApiClient.path("relays", name, action),
                emptyBody().put("event", event));
    }

    @Command(description = "Delete a relay that no node declares any more, with its position.", sortOptions = false)
    int delete(@Parameters(paramLabel = "NAME", description = "Name of the relay.") String name) {
        return deleteItem("Deleted %s.".formatted(name), "name", name, ApiClient.path("relays", name));
    }
}
