package io.carillon.server.event;

import io.carillon.event.Subscription;
import io.carillon.event.SubscriptionDefinition;
import io.carillon.event.SubscriptionTarget;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.JsonObject;
import org.jspecify.annotations.Nullable;

/** Converts subscriptions to JSON. */
public final class SubscriptionJson {
    private SubscriptionJson() {}

    public static JsonObject toJson(Subscription subscription) {
        SubscriptionDefinition definition = subscription.definition();
        return new JsonObject()
                .put("name", subscription.name())
                .put("version", subscription.version())
                .put("topic", subscription.pattern().topic())
                .put("types", subscription.pattern().types())
                .put("inOrder", subscription.inOrder())
                .put("target", target(definition.target()))
                .put("queue", definition.queue())
                .put("priority", JsonFields.enumText(definition.priority()))
                .put("owner", subscription.owner().text())
                .put("createdAt", subscription.createdAt())
                .put("paused", paused(subscription.pause()))
                .put("replays", subscription.replays())
                .put("lag", RelayJson.lag(subscription.lag()));
    }

    private static JsonObject target(SubscriptionTarget target) {
        if (target instanceof SubscriptionTarget.Endpoint endpoint)
            return new JsonObject()
                    .put("endpoint", endpoint.name())
                    .put("mode", endpoint.mode().text());
        return new JsonObject().put("handler", ((SubscriptionTarget.Handler) target).name());
    }

    private static @Nullable JsonObject paused(Subscription.@Nullable Pause pause) {
        if (pause == null) return null;
        return new JsonObject().put("at", pause.at()).put("by", pause.by()).put("reason", pause.reason());
    }
}
