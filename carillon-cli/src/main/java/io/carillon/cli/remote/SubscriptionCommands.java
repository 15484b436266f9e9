package io.carillon.cli.remote;

import static io.carillon.cli.remote.flags.JsonBody.emptyBody;
import static io.carillon.cli.remote.flags.JsonBody.putIfGiven;

import io.carillon.cli.answer.ScheduleRow;
import io.carillon.cli.client.ApiClient;
import io.carillon.cli.remote.flags.ListFlags;
import io.carillon.cli.remote.flags.SubscriptionFlags;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Shell;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code carillon subscription}. */
@Command(
        name = "subscription",
        description = "Create, show and change the subscriptions of handlers and endpoints to events.",
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false)
final class SubscriptionCommands extends RemoteCommandGroup {
    private static final List<String> COLUMNS =
            List.of("name", "state", "lag", "oldest", "topic", "types", "inOrder", "target", "replays");
    private static final List<String> READ_ONLY_FIELDS =
            List.of("name", "version", "owner", "createdAt", "paused", "replays", "lag");

    SubscriptionCommands(Shell shell) {
        super(shell);
    }

    @Command(description = "Create a subscription. Fails if the name is in use.", sortOptions = false)
    int create(
            @Parameters(paramLabel = "NAME", description = "Name of the subscription.") String name,
            @Mixin SubscriptionFlags flags,
            @Option(
                            names = "--start",
                            paramLabel = "now|beginning|INSTANT",
                            description = "Where the subscription begins. Default: now.")
                    @Nullable
                    String start) {
        ObjectNode body = flags.create(emptyBody().put("name", name));
        putIfGiven(body, "start", start);
        JsonNode made = client().post("/v1/subscriptions", body);
        printer().printResult("Created %s.".formatted(name), made, "name");
        ScheduleApplier.printWarnings(shell, made);
        return ExitCode.OK;
    }

    @Command(
            description = "Change parts of a subscription; the rest stays. Fails if another client changes it at the "
                    + "same time.",
            sortOptions = false)
    int update(
            @Parameters(paramLabel = "NAME", description = "Name of the subscription.") String name,
            @Mixin SubscriptionFlags flags) {
        ApiClient apiClient = client();
        String path = ApiClient.path("subscriptions", name);
        JsonNode before = apiClient.get(path);
        ObjectNode body = (ObjectNode) before.deepCopy();
        body.remove(READ_ONLY_FIELDS);
        JsonNode changed = apiClient
                .put(path, flags.applyTo(body), Map.of("If-Match", "\"" + before.path("version") + "\""))
                .body();
        printer().printResult("Changed %s.".formatted(name), changed, "name");
        ScheduleApplier.printWarnings(shell, changed);
        return ExitCode.OK;
    }

    @Command(description = "List subscriptions with their lag.", sortOptions = false)
    int list(@Mixin ListFlags flags) {
        return list(
                flags.watch(),
                new ListRequest("/v1/subscriptions", Map.of(), flags.limit()),
                "name",
                COLUMNS,
                SubscriptionCommands::row);
    }

    /** The subscription with one word for its state, and its lag as a number. */
    private static JsonNode row(JsonNode subscription) {
        JsonNode lag = subscription.path("lag");
        boolean paused = subscription.hasNonNull("paused");
        return ((ObjectNode) subscription.deepCopy())
                .put("state", paused ? ScheduleRow.paused(subscription.path("paused")) : "active")
                .put("lag", lag.path("count").asString() + (lag.path("more").booleanValue(false) ? "+" : ""))
                .put("oldest", lag.path("oldest").stringValue("-"))
                .put("inOrder", subscription.path("inOrder").booleanValue(false) ? "yes" : "no");
    }

    @Command(description = "Show a subscription.", sortOptions = false)
    int get(
            @Parameters(paramLabel = "NAME", description = "Name of the subscription.") String name,
            @Option(names = "--watch", description = "Print again on each change, until Ctrl-C.") boolean watch) {
        return showItem(watch, "name", "subscriptions", name);
    }

    @Command(description = "Pause a subscription: it gets no runs, and keeps its place.", sortOptions = false)
    int pause(
            @Parameters(paramLabel = "NAME", description = "Name of the subscription.") String name,
            @Option(names = "--reason", paramLabel = "TEXT", description = "Reason, shown with the pause.") @Nullable
                    String reason) {
        ObjectNode body = putIfGiven(emptyBody(), "reason", reason);
        return postChange("Paused %s.".formatted(name), "name", ApiClient.path("subscriptions", name, "pause"), body);
    }

    @Command(description = "Resume a subscription with the events since the pause.", sortOptions = false)
    int resume(@Parameters(paramLabel = "NAME", description = "Name of the subscription.") String name) {
        return postChange(
                "Resumed %s.".formatted(name), "name", ApiClient.path("subscriptions", name, "resume"), emptyBody());
    }

    @Command(description = "Deliver past events of a subscription again.", sortOptions = false)
    int replay(
            @Parameters(paramLabel = "NAME", description = "Name of the subscription.") String name,
            @Option(
                            names = "--from",
                            paramLabel = "INSTANT",
                            required = true,
                            description = "Instant of the first events.")
                    String from,
            @Option(
                            names = "--to",
                            paramLabel = "INSTANT",
                            required = true,
                            description = "Instant of the last events.")
                    String to) {
        return postChange(
                "Replaying the events of %s from %s to %s.".formatted(name, from, to),
                "name",
                ApiClient.path("subscriptions", name, "replay"),
                emptyBody().put("from", from).put("to", to));
    }

    @Command(description = "Skip an event that has no run for the subscription yet.", sortOptions = false)
    int skip(
            @Parameters(paramLabel = "NAME", description = "Name of the subscription.") String name,
            @Parameters(paramLabel = "EVENT", description = "Id of the event.") String event) {
        return postChange(
                "%s skips %s.".formatted(name, event),
                "event",
                ApiClient.path("subscriptions", name, "skip"),
                emptyBody().put("event", event));
    }

    @Command(description = "Delete a subscription. Its runs stay.", sortOptions = false)
    int delete(@Parameters(paramLabel = "NAME", description = "Name of the subscription.") String name) {
        return deleteItem("Deleted %s.".formatted(name), "name", name, ApiClient.path("subscriptions", name));
    }
}
