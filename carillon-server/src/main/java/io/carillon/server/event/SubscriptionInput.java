package io.carillon.server.event;

import io.carillon.event.CloudEventMode;
import io.carillon.event.EventPattern;
import io.carillon.event.Subscribe;
import io.carillon.event.SubscriptionDefinition;
import io.carillon.event.SubscriptionTarget;
import io.carillon.internal.value.Names;
import io.carillon.run.Priority;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.Problem;
import io.carillon.webhook.Endpoint;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Reads the definitions of subscriptions in requests. */
public final class SubscriptionInput {
    private SubscriptionInput() {}

    /** Reads a new subscription, with its name and where it starts. */
    public static SubscriptionDefinition readNew(JsonFields body) {
        String given = body.required("name", body.text("name"));
        return read(body.convert("name", () -> Names.check("subscription", given)), body, true);
    }

    /** Reads the settings of the subscription with this name, which continues at its place. */
    public static SubscriptionDefinition read(String name, JsonFields body) {
        return read(name, body, false);
    }

    private static SubscriptionDefinition read(String name, JsonFields body, boolean isNew) {
        String topic = body.required("topic", body.text("topic"));
        List<String> types = body.texts("types").orElse(List.of("*"));
        EventPattern any = body.convert("topic", () -> EventPattern.topic(topic));
        EventPattern pattern = body.convert("types", () -> new EventPattern(any.topic(), types));
        SubscriptionTarget target = target(body);
        boolean inOrder = body.flag("inOrder").orElse(false);
        Subscribe options = inOrder ? Subscribe.inOrder() : Subscribe.inAnyOrder();
        if (isNew) options = start(body, options);
        Optional<String> queue = queue(body, target);
        Priority priority = body.enumValue("priority", Priority.class).orElse(Priority.NORMAL);
        body.refuseUnknown();
        return new SubscriptionDefinition(name, pattern, target, options, queue.orElse(null), priority);
    }

    private static SubscriptionTarget target(JsonFields body) {
        JsonFields fields = body.required("target", body.object("target"));
        Optional<String> handler = fields.text("handler");
        Optional<String> endpoint = fields.text("endpoint");
        if (handler.isPresent() == endpoint.isPresent())
            throw Problem.invalid("/target", "Exactly one of handler and endpoint is required.");
        Optional<CloudEventMode> mode = fields.enumValue("mode", CloudEventMode.class);
        fields.refuseUnknown();
        if (endpoint.isPresent())
            return new SubscriptionTarget.Endpoint(
                    fields.convert("endpoint", () -> Endpoint.checkName(endpoint.get())),
                    mode.orElse(CloudEventMode.STRUCTURED));
        if (mode.isPresent()) throw Problem.invalid("/target/mode", "Only an endpoint has a mode. Leave it out.");
        ReservedHandlers.refuse(handler.get());
        return fields.convert("handler", () -> new SubscriptionTarget.Handler(handler.get()));
    }

    private static Subscribe start(JsonFields body, Subscribe options) {
        Optional<String> start = body.text("start");
        if (start.isEmpty() || start.get().equals("now")) return options;
        if (start.get().equals("beginning")) return options.fromBeginning();
        Optional<Instant> at = JsonFields.parseInstant(start.get());
        return options.from(at.orElseThrow(() ->
                Problem.invalid("/start", "This must be now, beginning, or an instant such as 2026-03-29T01:00:00Z.")));
    }

    private static Optional<String> queue(JsonFields body, SubscriptionTarget target) {
        Optional<String> queue = body.text("queue");
        if (queue.isEmpty()) return queue;
        if (target instanceof SubscriptionTarget.Endpoint endpoint) {
            String own = Endpoint.queueOf(endpoint.name());
            if (queue.get().equals(own)) return Optional.empty();
            throw Problem.invalid(
                    "/queue", "Runs of an endpoint always use its queue \"%s\". Leave the queue out.".formatted(own));
        }
        if (queue.get().startsWith(Names.ENDPOINT_QUEUE_PREFIX))
            throw Problem.invalid(
                    "/queue",
                    "Queues that start with \"%s\" belong to endpoints. Choose another queue."
                            .formatted(Names.ENDPOINT_QUEUE_PREFIX));
        return Optional.of(body.convert("queue", () -> Names.check("queue", queue.get())));
    }
}
