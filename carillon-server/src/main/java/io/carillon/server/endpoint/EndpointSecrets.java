package io.carillon.server.endpoint;

import io.carillon.internal.jdbc.Session;
import io.carillon.server.hooks.EndpointStore;
import io.carillon.server.http.Problem;
import io.carillon.server.store.EndpointSecretRepository;
import io.carillon.server.store.StoredEndpoint;
import io.carillon.spi.Secret;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

/** Stores the secrets of an endpoint that a request gives, keeps or lets the server generate. */
public final class EndpointSecrets {
    private final EndpointStore store;

    public EndpointSecrets(EndpointStore store) {
        this.store = store;
    }

    /**
     * Makes the requested secrets the secrets of the endpoint.
     *
     * @param endpoint the stored endpoint with its new URL; its secrets are those before the change
     * @param moved whether the origin of the URL changed, so that no value can be kept
     * @return the generated secrets by name, which only the response to this request shows
     */
    public Map<String, Secret> replace(
            Session session,
            StoredEndpoint endpoint,
            List<EndpointInput.SecretInput> wanted,
            boolean moved,
            String actor)
            throws SQLException {
        store.secrets()
                .deleteOthers(
                        session,
                        endpoint.project(),
                        endpoint.name(),
                        wanted.stream().map(EndpointInput.SecretInput::name).toList());
        Map<String, Secret> generated = new TreeMap<>();
        for (int i = 0; i < wanted.size(); i++) {
            EndpointInput.SecretInput secret = wanted.get(i);
            Optional<StoredEndpoint.StoredSecret> stored = find(endpoint, secret);
            if (secret.value().isEmpty() && !moved && stored.isPresent()) {
                requireSameAlgorithm("/secrets/%d/algorithm".formatted(i), secret, stored.get());
                continue;
            }
            if (secret.value().isEmpty() && secret.header() != null)
                throw Problem.invalid(
                        "/secrets/%d/value".formatted(i),
                        moved
                                ? "The origin of the URL changes, so the value of the header is required again."
                                : "The value of the header is required.");
            Secret value = secret.value()
                    .orElseGet(() -> secret.algorithm()
                            .or(() -> stored.map(SigningAlgorithm::of))
                            .orElse(SigningAlgorithm.HMAC_SHA256)
                            .generate());
            if (secret.value().isEmpty()) generated.put(secret.name(), value);
            store.secrets().put(session, endpoint.project(), endpoint.name(), seal(endpoint, secret, value), actor);
        }
        return generated;
    }

    private static Optional<StoredEndpoint.StoredSecret> find(
            StoredEndpoint endpoint, EndpointInput.SecretInput secret) {
        return endpoint.secrets().stream()
                .filter(stored ->
                        stored.name().equals(secret.name()) && Objects.equals(stored.header(), secret.header()))
                .findFirst();
    }

    private static void requireSameAlgorithm(
            String pointer, EndpointInput.SecretInput wanted, StoredEndpoint.StoredSecret stored) {
        if (wanted.algorithm().isPresent() && wanted.algorithm().get() != SigningAlgorithm.of(stored))
            throw Problem.invalid(pointer, "The secret has another algorithm. Rotate it to change the algorithm.");
    }

    /** Rejects a change of the origin that does not give every secret again. */
    public void requireAllAgain(
            StoredEndpoint before, String origin, Optional<List<EndpointInput.SecretInput>> wanted) {
        List<String> given = wanted.orElse(List.of()).stream()
                .map(EndpointInput.SecretInput::name)
                .toList();
        List<String> missing = before.secrets().stream()
                .map(StoredEndpoint.StoredSecret::name)
                .filter(name -> !given.contains(name))
                .toList();
        if (!missing.isEmpty())
            throw Problem.of(
                    409,
                    "secrets-required",
                    ("The URL moves from %s to %s, and secrets are bound to their origin. Send all secrets of the "
                                    + "endpoint in the field secrets; missing: %s.")
                            .formatted(before.origin(), origin, String.join(", ", missing)));
    }

    /** Encrypts a secret for the origin of the endpoint. */
    public EndpointSecretRepository.NewSecret seal(
            StoredEndpoint endpoint, EndpointInput.SecretInput secret, Secret value) {
        return new EndpointSecretRepository.NewSecret(
                secret.name(),
                secret.header(),
                store.seal(
                        endpoint.project(), endpoint.name(), endpoint.origin(), secret.name(), secret.header(), value),
                secret.header() == null ? EndpointInput.publicKey(value) : null);
    }

    /** Throws a problem with status 409 if the server cannot encrypt secrets. */
    public void requireMasterKey() {
        if (!store.hasMasterKey())
            throw Problem.of(
                    409,
                    "no-master-key",
                    "This server has no master key to encrypt secrets. Set CARILLON_MASTER_KEYS_FILE and restart it.");
    }
}
