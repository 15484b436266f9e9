package io.carillon.cli.remote.flags;

import io.carillon.cli.shell.UsageException;
import io.carillon.event.CloudEventMode;
import io.carillon.run.Priority;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The options of a subscription: the events that it selects, its target and its order. */
public final class SubscriptionFlags {
    @Option(
            names = "--topic",
            paramLabel = "PATTERN",
            description = "Topic of the events: a name, or the beginning of a name followed by *.")
    private @Nullable String topic;

    @Option(
            names = "--type",
            paramLabel = "PATTERN,…",
            split = ",",
            description = "Types of the events, in the same form. Default: *.")
    private @Nullable List<String> types;

    @Option(names = "--handler", paramLabel = "NAME", description = "Handler that gets the events.")
    private @Nullable String handler;

    @Option(names = "--endpoint", paramLabel = "NAME", description = "Endpoint that gets the events as CloudEvents.")
    private @Nullable String endpoint;

    @Option(
            names = "--mode",
            paramLabel = "structured|binary",
            description = "Form of the CloudEvents of --endpoint. Default: structured.")
    private @Nullable String mode;

    @Option(names = "--in-order", description = "Deliver the events of one key one after the other.")
    private boolean inOrder;

    @Option(names = "--any-order", description = "Deliver events as soon as possible. Default for a new subscription.")
    private boolean anyOrder;

    @Option(
            names = "--queue",
            paramLabel = "NAME",
            description = "Queue of the runs of a handler. Default: that of the handler.")
    private @Nullable String queue;

    @Option(names = "--priority", paramLabel = "high|normal|low|bulk", description = "Priority of the runs.")
    private @Nullable String priority;

    /** Adds the fields of a new subscription. */
    public ObjectNode create(ObjectNode body) {
        if (topic == null) throw new UsageException("--topic is required, such as --topic orders or --topic '*'.");
        if (handler == null && endpoint == null) throw targetMissing();
        return applyTo(body);
    }

    /** Replaces the fields for which an option was given. */
    public ObjectNode applyTo(ObjectNode body) {
        if (handler != null && endpoint != null) throw targetMissing();
        JsonBody.putIfGiven(body, "topic", topic);
        if (types != null) {
            ArrayNode all = body.putArray("types");
            types.forEach(all::add);
        }
        if (handler != null) body.putObject("target").put("handler", handler);
        if (endpoint != null) {
            body.remove("queue");
            body.putObject("target").put("endpoint", endpoint);
        }
        String wanted = AllowedValues.require("--mode", mode, CloudEventMode.class);
        if (wanted != null) {
            if (!(body.get("target") instanceof ObjectNode target) || !target.has("endpoint"))
                throw new UsageException("--mode needs --endpoint.");
            target.put("mode", wanted);
        }
        if (inOrder && anyOrder) throw new UsageException("Give either --in-order or --any-order.");
        if (inOrder || anyOrder) body.put("inOrder", inOrder);
        JsonBody.putIfGiven(body, "queue", queue);
        return JsonBody.putIfGiven(body, "priority", AllowedValues.require("--priority", priority, Priority.class));
    }

    private static UsageException targetMissing() {
        return new UsageException("Give exactly one of --handler and --endpoint.");
    }
}
