package io.carillon.server.hooks;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.ControlCharacters;
import io.carillon.server.store.EndpointSecretRepository;
import io.carillon.spi.Keyring;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Checks and re-encrypts the secrets of the endpoints of all projects. */
public final class SecretResealer {
    private static final Logger log = LoggerFactory.getLogger(SecretResealer.class);
    private static final int CHUNK = 500;
    /** The number of chunks that one call of {@link #reseal} reads. */
    private static final int CHUNKS_PER_CALL = 20;

    private final EndpointStore store;
    private final Optional<Keyring> keys;

    SecretResealer(EndpointStore store, Optional<Keyring> keys) {
        this.store = store;
        this.keys = keys;
    }

    /**
     * Fails if there are secrets and none of them can be decrypted: every delivery that needs a secret would fail. A
     * few secrets of each master key are decrypted.
     */
    void checkKeys() {
        Map<String, Boolean> readable = new HashMap<>();
        Map<String, Long> stored = new HashMap<>();
        for (EndpointSecretRepository.Sample sample : store.secrets().samples()) {
            stored.put(sample.keyId(), sample.storedWithKey());
            readable.merge(sample.keyId(), canOpen(sample.secret()), Boolean::logicalOr);
        }
        if (stored.isEmpty()) return;
        if (keys.isEmpty())
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "The database holds secrets of endpoints, but no master key is set. Set CARILLON_MASTER_KEYS_FILE "
                            + "or CARILLON_MASTER_KEYS to the keys that encrypted them.");
        if (!readable.containsValue(true))
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "None of the master keys decrypts the secrets of endpoints in this database. Add the key that "
                            + "encrypted them to the key file.");
        for (Map.Entry<String, Long> one : stored.entrySet()) {
            if (readable.getOrDefault(one.getKey(), false)) continue;
            long secrets = one.getValue();
            log.warn(
                    "master key of endpoint secrets is missing; they cannot be decrypted key={} secrets={}",
                    ControlCharacters.escape(one.getKey()),
                    secrets);
        }
    }

    private boolean canOpen(EndpointSecretRepository.SealedSecret secret) {
        return keys.flatMap(ring -> ring.open(secret.sealed(), EndpointStore.context(secret)))
                .isPresent();
    }

    /**
     * The result of one call of {@link #reseal}.
     *
     * @param done the number of secrets that were encrypted again with the current master key
     * @param unreadable the number of secrets that no master key decrypts
     * @param next the position to continue from; null if no secrets are left
     */
    public record ResealResult(
            int done, int unreadable, @Nullable String next) {}

    /**
     * Encrypts secrets again that were encrypted with an older master key, in batches from the position {@code after}.
     * Each secret is changed by a statement of its own, so an interrupted call can be repeated at any time.
     */
    public ResealResult reseal(String after) {
        Keyring ring = keys.orElseThrow(EndpointStore::noMasterKey);
        String[] position = (after + "//").split("/", -1);
        String project = position[0];
        String endpoint = position[1];
        String name = position[2];
        int done = 0;
        int unreadable = 0;
        for (int chunk = 0; chunk < CHUNKS_PER_CALL; chunk++) {
            List<EndpointSecretRepository.SealedSecret> some =
                    store.secrets().listSealed(project, endpoint, name, CHUNK);
            for (EndpointSecretRepository.SealedSecret secret : some) {
                if (isCurrent(ring, secret)) continue;
                Optional<String> fresh = ring.reseal(secret.sealed(), EndpointStore.context(secret));
                if (fresh.isEmpty()) unreadable++;
                else if (store.secrets().reseal(secret, fresh.get(), previous(ring, secret))) done++;
            }
            if (some.size() < CHUNK) return new ResealResult(done, unreadable, null);
            EndpointSecretRepository.SealedSecret last = some.get(some.size() - 1);
            project = last.project();
            endpoint = last.endpoint();
            name = last.name();
        }
        return new ResealResult(done, unreadable, String.join("/", project, endpoint, name));
    }

    private static boolean isCurrent(Keyring ring, EndpointSecretRepository.SealedSecret secret) {
        return ring.isCurrent(secret.sealed()) && (secret.previous() == null || ring.isCurrent(secret.previous()));
    }

    private static @Nullable String previous(Keyring ring, EndpointSecretRepository.SealedSecret secret) {
        String previous = secret.previous();
        if (previous == null) return null;
        return ring.reseal(previous, EndpointStore.context(secret)).orElse(previous);
    }
}
