package io.carillon.cli.remote;

import static io.carillon.cli.remote.flags.JsonBody.emptyBody;
import static io.carillon.cli.remote.flags.JsonBody.putIfGiven;
import static io.carillon.cli.remote.flags.JsonBody.putTexts;

import io.carillon.cli.answer.Printer;
import io.carillon.cli.client.ApiClient;
import io.carillon.cli.remote.flags.EventFilterFlags;
import io.carillon.cli.remote.flags.JsonInput;
import io.carillon.cli.remote.stream.EventTail;
import io.carillon.cli.shell.CommandException;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.SecretFiles;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** {@code carillon event}. */
@Command(
        name = "event",
        description = "Publish, list and follow events, and show their deliveries.",
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false)
final class EventCommands extends RemoteCommandGroup {
    private static final long RECONNECT_MILLIS = 2_000;

    private static final int MAX_BATCH = 1_000;
    private static final int PAGE_SIZE = 200;
    private static final List<String> COLUMNS = List.of("id", "type", "key", "version", "publishedAt", "data");
    private static final List<String> TOPIC_COLUMNS = List.of("name", "lastMinute", "lastPublishedAt");
    private static final List<String> DELIVERY_COLUMNS =
            List.of("subscription", "run", "state", "attempt", "createdAt", "endedAt", "lastError");

    EventCommands(Shell shell) {
        super(shell);
    }

    @Command(description = "Publish an event.", sortOptions = false)
    int publish(
            @Parameters(paramLabel = "TOPIC", description = "Topic of the event.") String topic,
            @Parameters(paramLabel = "TYPE", description = "Type of the event.") String type,
            @Option(
                            names = "--key",
                            paramLabel = "KEY",
                            description =
                                    "Key, such as the id of an order. Events of one key can be delivered in order.")
                    @Nullable
                    String key,
            @Option(
                            names = "--data",
                            paramLabel = "JSON",
                            description = "Data of the event; @FILE reads a file. Default: {}.")
                    @Nullable
                    String data,
            @Option(
                            names = "--header",
                            paramLabel = "NAME=VALUE",
                            description = "Header of the event, beside its data. Can be repeated.")
                    @Nullable
                    Map<String, String> headers,
            @Option(
                            names = "--publish-id",
                            paramLabel = "ID",
                            description = "Your id of the event. Within 24 hours, an event with the same id is not "
                                    + "stored again.")
                    @Nullable
                    String publishId,
            @Option(names = "--versions", description = "Count the events of each key of the topic.") boolean versions,
            @Option(
                            names = "--expected-version",
                            paramLabel = "N",
                            description = "Publish only if the key has this version: the number of its events.")
                    @Nullable
                    Long expected) {
        ObjectNode body = emptyBody().put("topic", topic).put("type", type);
        putIfGiven(putIfGiven(body, "key", key), "publishId", publishId);
        if (data != null) body.set("data", JsonInput.parseOrReadFile("--data", data));
        if (headers != null) putTexts(body, "headers", headers);
        if (versions) body.put("versions", true);
        if (expected != null) body.put("expectedVersion", expected);
        JsonNode made = client().post("/v1/events", body);
        String event = made.path("event").stringValue("");
        boolean published = made.path("published").booleanValue(true);
        printer()
                .printResult(
                        published
                                ? "Published %s.".formatted(event)
                                : "%s already has this publish id; nothing was published.".formatted(event),
                        made,
                        "event");
        return ExitCode.OK;
    }

    @Command(
            name = "publish-all",
            description = "Publish the events of a file in their order, in batches of 1000. Each batch is published "
                    + "completely or not at all.",
            sortOptions = false)
    int publishAll(
            @Option(
                            names = {"-f", "--file"},
                            paramLabel = "FILE",
                            required = true,
                            description = "File with a JSON array of events: topic, type, key, data; - is standard "
                                    + "input.")
                    String file) {
        JsonNode events = JsonInput.parse(file, SecretFiles.readText("--file", file));
        if (!events.isArray() || events.isEmpty())
            throw new UsageException(file + " must contain a JSON array of events: [{\"topic\": …, \"type\": …}, …].");
        ApiClient apiClient = client();
        List<JsonNode> results = new ArrayList<>();
        for (int from = 0; from < events.size(); from += MAX_BATCH) {
            ObjectNode body = emptyBody();
            ArrayNode batch = body.putArray("events");
            for (int i = from; i < Math.min(events.size(), from + MAX_BATCH); i++) batch.add(events.get(i));
            try {
                apiClient.post("/v1/events:batch", body).path("items").forEach(results::add);
            } catch (CommandException failed) {
                if (results.isEmpty()) throw failed;
                throw new CommandException(
                        ExitCode.PARTIAL,
                        "%d events were published, then the request failed: %s"
                                .formatted(results.size(), failed.getMessage()),
                        failed);
            }
        }
        long published = results.stream()
                .filter(result -> result.path("published").booleanValue(true))
                .count();
        Printer printer = printer();
        if (printer.isTable())
            printer.printResult(
                    "Published %d events; %d existed.".formatted(published, results.size() - published),
                    emptyBody(),
                    "event");
        else printer.printList(results, "event", List.of("event"));
        return ExitCode.OK;
    }

    @Command(description = "List the topics that have events.", sortOptions = false)
    int topics(@Option(names = "--watch", description = "Print again on each change, until Ctrl-C.") boolean watch) {
        ApiClient apiClient = client();
        return showList(
                watch,
                printer().rows(EventCommands::counted),
                () -> apiClient.get("/v1/topics").path("items").valueStream().toList(),
                "name",
                TOPIC_COLUMNS);
    }

    /** The topic with {@code 10000+} if the server did not count further. */
    private static JsonNode counted(JsonNode topic) {
        boolean more = topic.path("more").booleanValue(false);
        return ((ObjectNode) topic.deepCopy())
                .put("lastMinute", topic.path("lastMinute").asString() + (more ? "+" : ""));
    }

    @Command(description = "List events of a topic, the newest ones or from a position on.", sortOptions = false)
    int list(
            @Parameters(paramLabel = "TOPIC", description = "Topic of the events.") String topic,
            @Mixin EventFilterFlags filter,
            @Option(
                            names = "--from",
                            paramLabel = "INSTANT",
                            description = "List in the order of delivery, from the events of this instant on.")
                    @Nullable
                    String from,
            @Option(
                            names = "--limit",
                            paramLabel = "N",
                            defaultValue = "20",
                            description = "Maximum number of items. Default: ${DEFAULT-VALUE}.")
                    int limit) {
        checkLimit(limit);
        Map<String, String> query = filter.query(topic);
        if (from != null && filter.hasPosition()) throw new UsageException("Give either --from or --after.");
        if (from != null) query.put("from", from);
        boolean newest = from == null && !filter.hasPosition();
        if (newest) {
            if (limit > PAGE_SIZE)
                throw new UsageException(
                        "--limit must be at most %d without --from or --after (was %d).".formatted(PAGE_SIZE, limit));
            query.put("order", "newest");
        }
        EventPages.Found found = new EventPages(client()).read(query, limit);
        printer().printList(found.events(), "id", COLUMNS);
        // Where the next list continues: to standard error, so that programs read the events only.
        if (!newest) shell.err().println("The next list: --after " + found.next());
        return ExitCode.OK;
    }

    @Command(description = "Show an event with its deliveries.", sortOptions = false)
    int get(
            @Parameters(paramLabel = "ID", description = "Id of the event.") String id,
            @Option(names = "--watch", description = "Print again on each change, until Ctrl-C.") boolean watch) {
        ApiClient apiClient = client();
        Printer printer = printer();
        return show(watch, () -> {
            JsonNode event = apiClient.get(ApiClient.path("events", id));
            if (!printer.isTable()) return printer.itemText(event, "id");
            ObjectNode shown = (ObjectNode) event.deepCopy();
            shown.remove(List.of("deliveries", "moreDeliveries"));
            List<JsonNode> deliveries = event.path("deliveries").valueStream().toList();
            return printer.itemText(shown, "id") + "\n\n"
                    + (deliveries.isEmpty() ? "No deliveries." : printer.listText(deliveries, "run", DELIVERY_COLUMNS));
        });
    }

    @Command(description = "Print the events of a topic as they are published, until Ctrl-C.", sortOptions = false)
    int tail(
            @Parameters(paramLabel = "TOPIC", description = "Topic of the events.") String topic,
            @Mixin EventFilterFlags filter,
            @Option(names = "--count", paramLabel = "N", description = "Exit after this many events.") @Nullable
                    Integer count) {
        new EventTail(shell, client(), printer(), count, () -> pause(RECONNECT_MILLIS)).follow(filter.query(topic));
        return ExitCode.OK;
    }

    /** Reads the pages of a list of events. */
    private record EventPages(ApiClient client) {
        /** Events, and the position behind them. */
        private record Found(List<JsonNode> events, String next) {}

        Found read(Map<String, String> query, int wanted) {
            Map<String, String> parameters = new LinkedHashMap<>(query);
            ArrayNode events = JsonNodeFactory.instance.arrayNode();
            while (true) {
                parameters.put("limit", Integer.toString(Math.max(1, Math.min(PAGE_SIZE, wanted - events.size()))));
                JsonNode page = client.get("/v1/events" + ApiClient.query(parameters));
                page.path("items").forEach(events::add);
                String next = page.path("next").stringValue("");
                boolean atEnd = page.path("atEnd").booleanValue(true);
                if (atEnd || events.size() >= wanted)
                    return new Found(events.valueStream().toList(), next);
                parameters.remove("from");
                parameters.put("after", next);
            }
        }
    }
}
