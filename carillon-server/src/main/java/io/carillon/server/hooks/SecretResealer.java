package io.carillon.server.hooks;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.server.store.StoredEndpoint;
import io.carillon.spi.Keyring;
import java.util.List;
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
     * Fails if the first {@value #CHUNK} endpoints have secrets and none of them can be decrypted: every delivery that
     * needs a secret would fail.
     */
    void checkKeys() {
        long all = 0;
        long opened = 0;
        for (StoredEndpoint endpoint : store.endpoints().listAllProjects("", "", CHUNK))
            for (StoredEndpoint.StoredSecret secret : endpoint.secrets()) {
                all++;
                if (store.open(endpoint, secret, secret.sealed()).isPresent()) opened++;
            }
        if (all == 0) return;
        if (keys.isEmpty())
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "The database holds secrets of endpoints, but no master key is set. Set CARILLON_MASTER_KEYS_FILE "
                            + "or CARILLON_MASTER_KEYS to the keys that encrypted them.");
        if (opened == 0)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "None of the master keys decrypts the secrets of endpoints in this database. Add the key that "
                            + "encrypted them to the key file.");
        if (opened < all)
            log.warn(
                    "secrets of endpoints cannot be decrypted because their master key is missing secrets={} of={}",
                    all - opened,
                    all);
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
     * Encrypts secrets again that were encrypted with an older master key, in batches of endpoints from the position
     * {@code after}. Each secret is changed by a statement of its own, so an interrupted call can be repeated at any
     * time.
     */
    public ResealResult reseal(String after) {
        Keyring ring = keys.orElseThrow(EndpointStore::noMasterKey);
        String[] behind = (after + "/").split("/", -1);
        String project = behind[0];
        String name = behind[1];
        int done = 0;
        int unreadable = 0;
        for (int chunk = 0; chunk < CHUNKS_PER_CALL; chunk++) {
            List<StoredEndpoint> some = store.endpoints().listAllProjects(project, name, CHUNK);
            for (StoredEndpoint endpoint : some)
                for (StoredEndpoint.StoredSecret secret : endpoint.secrets()) {
                    if (isCurrent(ring, secret)) continue;
                    Optional<String> fresh = ring.reseal(secret.sealed(), EndpointStore.context(endpoint, secret));
                    if (fresh.isEmpty()) unreadable++;
                    else if (store.secrets().reseal(endpoint, secret, fresh.get(), previous(ring, endpoint, secret)))
                        done++;
                }
            if (some.size() < CHUNK) return new ResealResult(done, unreadable, null);
            project = some.get(some.size() - 1).project();
            name = some.get(some.size() - 1).name();
        }
        return new ResealResult(done, unreadable, project + "/" + name);
    }

    private static boolean isCurrent(Keyring ring, StoredEndpoint.StoredSecret secret) {
        return ring.isCurrent(secret.sealed()) && (secret.previous() == null || ring.isCurrent(secret.previous()));
    }

    private static @Nullable String previous(
            Keyring ring, StoredEndpoint endpoint, StoredEndpoint.StoredSecret secret) {
        String previous = secret.previous();
        if (previous == null) return null;
        return ring.reseal(previous, EndpointStore.context(endpoint, secret)).orElse(previous);
    }
}
