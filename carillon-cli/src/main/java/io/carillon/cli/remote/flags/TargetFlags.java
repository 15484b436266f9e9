package io.carillon.cli.remote.flags;

import io.carillon.cli.shell.UsageException;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The options of a target without a handler: an endpoint, a webhook, an event, or a target in JSON. */
final class TargetFlags {
    @Option(names = "--endpoint", paramLabel = "NAME", description = "Endpoint to call instead of a handler.")
    private @Nullable String endpoint;

    @Option(names = "--webhook", paramLabel = "URL", description = "URL to call instead of a handler, without secrets.")
    private @Nullable String webhook;

    @Option(
            names = "--event",
            paramLabel = "TOPIC/TYPE",
            description = "Event to publish instead of calling a handler; the payload is its data.")
    private @Nullable String event;

    @Option(names = "--event-key", paramLabel = "KEY", description = "Key of --event.")
    private @Nullable String eventKey;

    @Mixin
    private WebhookFlags webhookFlags = new WebhookFlags();

    @Option(names = "--target", paramLabel = "JSON", description = "Target in JSON, for settings that have no option.")
    private @Nullable String target;

    boolean isEmpty() {
        return endpoint == null
                && webhook == null
                && target == null
                && event == null
                && eventKey == null
                && webhookFlags.isEmpty();
    }

    private JsonNode eventJson(String topicAndType) {
        String[] parts = topicAndType.split("/", -1);
        if (parts.length != 2 || parts[0].isEmpty() || parts[1].isEmpty())
            throw new UsageException("--event must be a topic and a type, such as orders/order.placed (was '%s')."
                    .formatted(topicAndType));
        ObjectNode json = JsonBody.emptyBody();
        ObjectNode published = json.putObject("event").put("topic", parts[0]).put("type", parts[1]);
        webhookFlags.addEventHeaders(JsonBody.putIfGiven(published, "key", eventKey));
        return json;
    }

    /**
     * Returns the target. Exactly one of the handler, {@code --endpoint}, {@code --webhook}, {@code --event} and
     * {@code --target} must be given.
     *
     * @param handler null if no handler was given
     * @param word the option or parameter of the handler, for messages
     */
    JsonNode json(@Nullable String handler, String word) {
        if (Stream.of(handler, endpoint, webhook, event, target)
                        .filter(Objects::nonNull)
                        .count()
                != 1)
            throw new UsageException(
                    "Give exactly one of %s, --endpoint, --webhook, --event and --target.".formatted(word));
        if (eventKey != null && event == null) throw new UsageException("--event-key needs --event.");
        if (endpoint != null) return webhookFlags.endpointJson(endpoint);
        if (webhook != null) return webhookFlags.json(webhook);
        if (event != null) return eventJson(event);
        if (!webhookFlags.isEmpty())
            throw new UsageException(
                    "--method and --callback need --webhook; --header needs --webhook, --endpoint or --event.");
        return target != null
                ? JsonInput.parseOrReadFile("--target", target)
                : JsonBody.emptyBody().put("handler", handler);
    }
}
