package io.carillon.event;

import io.carillon.internal.value.Names;

/** The receiver of the events of a subscription. */
public sealed interface SubscriptionTarget {
    /**
     * A handler in Java, which must be registered to receive events. The payload of its runs is an event.
     *
     * @param name the name of the handler
     */
    record Handler(String name) implements SubscriptionTarget {
        public Handler {
            Names.check("handler", name);
        }
    }

    /**
     * An endpoint of webhooks. It gets each event as a CloudEvent 1.0, signed with its secrets.
     *
     * @param name the name of the endpoint
     */
    record Endpoint(String name, CloudEventMode mode) implements SubscriptionTarget {
        public Endpoint {
            Names.check("endpoint", name);
        }
    }
}
