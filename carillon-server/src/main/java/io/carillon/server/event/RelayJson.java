package io.carillon.server.event;

import io.carillon.event.Relay;
import io.carillon.event.SourcePartition;
import io.carillon.event.Subscription;
import io.carillon.internal.value.PublicId;
import io.carillon.server.http.JsonObject;
import java.util.UUID;

/** Converts relays and sources to JSON. */
public final class RelayJson {
    private RelayJson() {}

    /** {@code position} is the position of the relay in the form that callers get. */
    public static JsonObject toJson(Relay relay, String position) {
        UUID node = relay.node();
        return new JsonObject()
                .put("name", relay.name())
                .put("topic", relay.topic())
                .put("destination", relay.destination())
                .put("state", relay.state().text())
                .put("node", node == null ? null : PublicId.ofNode(node))
                .put("position", position)
                .put("lag", lag(relay.lag()))
                .put("sent", relay.sent())
                .put("failingSince", relay.failingSince())
                .put("error", relay.error())
                .put("rejected", relay.rejected())
                .put("waiting", relay.waiting());
    }

    static JsonObject lag(Subscription.Lag lag) {
        return new JsonObject()
                .put("count", lag.count())
                .put("more", lag.count() >= Subscription.Lag.MAX_COUNT)
                .put("oldest", lag.oldest());
    }

    /** Converts an event that the destination of a relay has rejected. */
    public static JsonObject toJson(Relay.Rejected rejected) {
        return new JsonObject()
                .put("event", rejected.event().toString())
                .put("key", rejected.key())
                .put("blocksKey", rejected.blocksKey())
                .put("reason", rejected.reason())
                .put("rejectedAt", rejected.rejectedAt());
    }

    /** Converts a partition of a source. */
    public static JsonObject toJson(SourcePartition source) {
        return new JsonObject()
                .put("name", source.name())
                .put("partition", source.partition())
                .put("next", source.next())
                .put("movedAt", source.movedAt())
                .put("blockedSince", source.blockedSince())
                .put("reason", source.reason());
    }
}
