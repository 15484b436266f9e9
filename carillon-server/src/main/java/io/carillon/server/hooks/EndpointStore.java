package io.carillon.server.hooks;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.run.Retry;
import io.carillon.server.store.EndpointRepository;
import io.carillon.server.store.EndpointSecretRepository;
import io.carillon.server.store.StoredEndpoint;
import io.carillon.server.store.Transactions;
import io.carillon.spi.Keyring;
import io.carillon.spi.Secret;
import io.carillon.webhook.Endpoint;
import io.carillon.webhook.EndpointSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The endpoints of projects. Encrypts their secrets and decrypts them for deliveries. An encrypted secret can be
 * decrypted only for the project, endpoint, origin, name and header it was encrypted for: no change of the URL sends it
 * to another origin, and no signing secret is sent. Thread-safe.
 */
public final class EndpointStore implements EndpointSource {
    private final EndpointRepository endpoints;
    private final EndpointSecretRepository secrets;
    private final Optional<Keyring> keys;

    EndpointStore(Transactions transactions, Optional<Keyring> keys) {
        this.endpoints = new EndpointRepository(transactions);
        this.secrets = new EndpointSecretRepository(transactions);
        this.keys = keys;
    }

    /** Returns the repository of the stored endpoints. */
    public EndpointRepository endpoints() {
        return endpoints;
    }

    /** Returns the repository that writes the secrets of endpoints. */
    public EndpointSecretRepository secrets() {
        return secrets;
    }

    /** Returns the operations on the secrets of all projects, for a change of the master key. */
    public SecretResealer resealer() {
        return new SecretResealer(this, keys);
    }

    /** Returns whether the server has a master key. Without one it cannot store or decrypt secrets. */
    public boolean hasMasterKey() {
        return keys.isPresent();
    }

    @Override
    public Optional<Endpoint> find(String project, String name) {
        return endpoints.find(project, name).map(this::withSecrets);
    }

    @Override
    public boolean allowsAdHocUrls(String project) {
        return endpoints.allowsAdHocUrls(project);
    }

    private Endpoint withSecrets(StoredEndpoint stored) {
        Endpoint endpoint = Endpoint.of(stored.name(), stored.request());
        Retry retry = stored.retry();
        if (retry != null) endpoint = endpoint.retry(retry);
        List<Secret> signing = new ArrayList<>();
        for (StoredEndpoint.StoredSecret secret : stored.secrets()) {
            Secret value = open(stored, secret, secret.sealed()).orElseThrow(() -> unreadable(stored, secret));
            String header = secret.header();
            if (header != null) {
                endpoint = endpoint.secretHeader(header, () -> value);
                continue;
            }
            signing.add(value);
            if (secret.previous() != null)
                open(stored, secret, secret.previous()).ifPresent(signing::add);
        }
        return signing.isEmpty() ? endpoint : endpoint.signedWith(() -> signing);
    }

    private static CarillonException unreadable(StoredEndpoint endpoint, StoredEndpoint.StoredSecret secret) {
        return new CarillonException(
                ErrorCode.INVALID_OPTION,
                ("The secret \"%s\" of endpoint \"%s\" cannot be decrypted for %s: its master key is missing, or it "
                                + "belongs to another URL. Update the endpoint with the secret.")
                        .formatted(secret.name(), endpoint.name(), endpoint.origin()));
    }

    private Optional<Secret> open(StoredEndpoint endpoint, StoredEndpoint.StoredSecret secret, String sealed) {
        String context =
                context(endpoint.project(), endpoint.name(), endpoint.origin(), secret.name(), secret.header());
        return keys.flatMap(ring -> ring.open(sealed, context)).map(bytes -> Secret.of(new String(bytes, UTF_8)));
    }

    /**
     * Encrypts a secret with the current master key. Returns the text to store.
     *
     * @param origin scheme, host and port of the URL of the endpoint; the secret can be decrypted only for them
     * @param header the header whose value it is; null for a signing secret, which can then not be sent in a header
     */
    public String seal(
            String project, String endpoint, String origin, String name, @Nullable String header, Secret value) {
        return keys.orElseThrow(EndpointStore::noMasterKey)
                .seal(value.reveal().getBytes(UTF_8), context(project, endpoint, origin, name, header));
    }

    static CarillonException noMasterKey() {
        return new CarillonException(
                ErrorCode.INVALID_OPTION,
                "This server has no master key to encrypt secrets. Set CARILLON_MASTER_KEYS_FILE and restart it.");
    }

    static String context(EndpointSecretRepository.SealedSecret secret) {
        return context(secret.project(), secret.endpoint(), secret.origin(), secret.name(), secret.header());
    }

    /** Only a header may contain a vertical bar. It is the last part, so that each context is unambiguous. */
    private static String context(
            String project, String endpoint, String origin, String name, @Nullable String header) {
        return String.join("|", project, "endpoint", endpoint, origin, name, header == null ? "" : header);
    }
}
