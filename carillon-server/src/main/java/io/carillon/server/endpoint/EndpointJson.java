package io.carillon.server.endpoint;

import io.carillon.server.http.JsonObject;
import io.carillon.server.store.StoredEndpoint;
import io.carillon.spi.Secret;
import io.carillon.webhook.Endpoint;
import java.util.Map;

/** Converts endpoints to JSON. Stored secrets are never shown. */
public final class EndpointJson {
    private EndpointJson() {}

    /** Converts an endpoint; {@code generated} contains the secrets that this response shows, by name. */
    public static JsonObject toJson(StoredEndpoint endpoint, Map<String, Secret> generated) {
        JsonObject json = new JsonObject().put("name", endpoint.name()).put("version", endpoint.version());
        return WebhookTargetJson.putRequest(json, endpoint.request())
                .put("queue", Endpoint.queueOf(endpoint.name()))
                .put(
                        "secrets",
                        endpoint.secrets().stream()
                                .map(secret -> secret(secret, generated))
                                .toList())
                .put("createdAt", endpoint.creation().at())
                .put("createdBy", endpoint.creation().by())
                .put("updatedAt", endpoint.updatedAt());
    }

    private static JsonObject secret(StoredEndpoint.StoredSecret secret, Map<String, Secret> generated) {
        Secret shown = generated.get(secret.name());
        return new JsonObject()
                .put("name", secret.name())
                .put("kind", secret.signs() ? "signing" : "header")
                .put("header", secret.header())
                .put("value", shown == null ? null : shown.reveal())
                .put("createdAt", secret.creation().at())
                .put("createdBy", secret.creation().by())
                .put("rotatedAt", secret.rotatedAt())
                .put("previousUntil", secret.previousUntil());
    }
}
