package io.carillon.server.store;

import io.carillon.run.Retry;
import io.carillon.webhook.Endpoint;
import io.carillon.webhook.WebhookTarget;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A stored endpoint with its encrypted secrets, ordered by name.
 *
 * @param request how the endpoint is called: a target with a URL and without a body
 * @param retry how its runs are retried; null for the setting of the webhook handler
 */
public record StoredEndpoint(
        String project,
        String name,
        long version,
        WebhookTarget request,
        @Nullable Retry retry,
        List<StoredSecret> secrets,
        ApiKey.Creation creation,
        Instant updatedAt) {
    /**
     * A stored secret.
     *
     * @param header the header whose value it is; null if it signs requests
     * @param publicKey the public key if it signs with Ed25519; null otherwise
     * @param sealed the encrypted secret; empty in a list, which does not read it
     * @param previous the encrypted previous secret while it also signs; null otherwise
     * @param rotatedAt null if it was never rotated
     */
    public record StoredSecret(
            String name,
            @Nullable String header,
            @Nullable String publicKey,
            String sealed,
            @Nullable String previous,
            @Nullable Instant previousUntil,
            ApiKey.Creation creation,
            @Nullable Instant rotatedAt) {
        public boolean signs() {
            return header == null;
        }
    }

    public StoredEndpoint {
        secrets = List.copyOf(secrets);
    }

    /** Returns whether the endpoint sets this header, given in lower case. A message must not set it. */
    public boolean setsHeader(String header) {
        return request.headers().containsKey(header)
                || secrets.stream().anyMatch(secret -> header.equals(secret.header()));
    }

    /** Returns scheme, host and port of the URL. Secrets are encrypted for it. */
    public String origin() {
        return Endpoint.originOf(Objects.requireNonNull(request.url()));
    }
}
