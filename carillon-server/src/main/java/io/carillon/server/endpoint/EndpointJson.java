package io.carillon.server.endpoint;

import io.carillon.QueueInfo;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.JsonObject;
import io.carillon.server.store.StoredEndpoint;
import io.carillon.spi.Secret;
import io.carillon.webhook.Endpoint;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Converts endpoints to JSON. Stored secrets are never shown. */
public final class EndpointJson {
    private EndpointJson() {}

    /**
     * Converts an endpoint.
     *
     * @param generated the secrets that this response shows, by name
     * @param pause the pause of its queue; null if the queue is not paused
     */
    public static JsonObject toJson(
            StoredEndpoint endpoint, Map<String, Secret> generated, QueueInfo.@Nullable Pause pause) {
        JsonObject json = new JsonObject().put("name", endpoint.name()).put("version", endpoint.version());
        return WebhookTargetJson.putRequest(json, endpoint.request())
                .put("retry", RetryJson.toJson(endpoint.retry()))
                .put("queue", Endpoint.queueOf(endpoint.name()))
                .put("paused", paused(pause))
                .put(
                        "secrets",
                        endpoint.secrets().stream()
                                .map(secret -> secret(secret, generated))
                                .toList())
                .put("createdAt", endpoint.creation().at())
                .put("createdBy", endpoint.creation().by())
                .put("updatedAt", endpoint.updatedAt());
    }

    /** Returns the pause of a queue; null if it is not paused. */
    public static @Nullable JsonObject paused(QueueInfo.@Nullable Pause pause) {
        return pause == null
                ? null
                : new JsonObject().put("at", pause.at()).put("by", pause.by()).put("reason", pause.reason());
    }

    /**
     * Converts a secret. A receiver needs the value of HMAC, and of Ed25519 only the public key: the private key is
     * never shown.
     */
    private static JsonObject secret(StoredEndpoint.StoredSecret secret, Map<String, Secret> generated) {
        Secret shown = secret.publicKey() == null ? generated.get(secret.name()) : null;
        return new JsonObject()
                .put("name", secret.name())
                .put("kind", secret.signs() ? "signing" : "header")
                .put("algorithm", secret.signs() ? JsonFields.enumText(SigningAlgorithm.of(secret)) : null)
                .put("header", secret.header())
                .put("publicKey", secret.publicKey())
                .put("value", shown == null ? null : shown.reveal())
                .put("createdAt", secret.creation().at())
                .put("createdBy", secret.creation().by())
                .put("rotatedAt", secret.rotatedAt())
                .put("previousUntil", secret.previousUntil());
    }
}
