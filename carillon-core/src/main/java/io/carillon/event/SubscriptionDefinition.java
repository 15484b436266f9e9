package io.carillon.event;

import static java.util.Objects.requireNonNull;

import io.carillon.internal.value.Names;
import io.carillon.run.Priority;
import org.jspecify.annotations.Nullable;

/**
 * What a subscription does.
 *
 * @param options the order, and where a new subscription starts
 * @param queue the queue of its runs; null for the queue of the handler or endpoint
 */
public record SubscriptionDefinition(
        String name,
        EventPattern pattern,
        SubscriptionTarget target,
        Subscribe options,
        @Nullable String queue,
        Priority priority) {
    public SubscriptionDefinition {
        Names.check("subscription", name);
        requireNonNull(pattern, "pattern");
        requireNonNull(target, "target");
        requireNonNull(options, "options");
        requireNonNull(priority, "priority");
        if (queue != null) Names.check("queue", queue);
    }

    /** Creates a definition with the default queue and priority. */
    public static SubscriptionDefinition of(
            String name, EventPattern pattern, SubscriptionTarget target, Subscribe options) {
        return new SubscriptionDefinition(name, pattern, target, options, null, Priority.NORMAL);
    }

    /** Returns a copy whose runs use this queue. Not allowed for endpoints, which have a queue of their own. */
    public SubscriptionDefinition queue(String other) {
        return new SubscriptionDefinition(name, pattern, target, options, other, priority);
    }

    /** Returns a copy whose runs have this priority. */
    public SubscriptionDefinition priority(Priority other) {
        return new SubscriptionDefinition(name, pattern, target, options, queue, other);
    }
}
