package io.carillon.server.hooks;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.server.store.SecretRepository;
import io.carillon.spi.Keyring;
import io.carillon.spi.Secret;
import io.carillon.webhook.SecretSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Encrypts the secrets of projects and decrypts them for deliveries. An encrypted secret can be decrypted only under
 * the project and name it was encrypted for. Thread-safe.
 */
public final class SecretStore implements SecretSource {
    private static final Logger log = LoggerFactory.getLogger(SecretStore.class);
    private static final int CHUNK = 500;
    /** The number of chunks that one call of {@link #reseal} reads. */
    private static final int CHUNKS_PER_CALL = 20;

    private final SecretRepository secrets;
    private final Optional<Keyring> keys;

    SecretStore(SecretRepository secrets, Optional<Keyring> keys) {
        this.secrets = secrets;
        this.keys = keys;
    }

    /** Returns the repository of the stored secrets. */
    public SecretRepository repository() {
        return secrets;
    }

    /** Returns whether the server has a master key. Without one it cannot store or decrypt secrets. */
    public boolean hasMasterKey() {
        return keys.isPresent();
    }

    /**
     * Fails if the database holds secrets and none of the first {@value #CHUNK} can be decrypted: every delivery that
     * needs a secret would fail.
     */
    void checkKeys() {
        List<SecretRepository.StoredSecret> some = secrets.listAllProjects("", "", CHUNK);
        if (some.isEmpty()) return;
        if (keys.isEmpty())
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "The database holds webhook secrets, but no master key is set. Set CARILLON_MASTER_KEYS_FILE or "
                            + "CARILLON_MASTER_KEYS to the keys that encrypted them.");
        long opened =
                some.stream().filter(one -> open(one, one.sealed()).isPresent()).count();
        if (opened == 0)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "None of the master keys decrypts the webhook secrets in this database. Add the key that encrypted "
                            + "them to the key file.");
        if (opened < some.size())
            log.warn(
                    "webhook secrets cannot be decrypted because their master key is missing secrets={} of={}",
                    some.size() - opened,
                    some.size());
    }

    @Override
    public List<Secret> find(String project, String name) {
        List<Secret> values = new ArrayList<>();
        secrets.find(project, name).ifPresent(storedSecret -> {
            open(storedSecret, storedSecret.sealed()).ifPresent(values::add);
            if (storedSecret.previous() != null)
                open(storedSecret, storedSecret.previous()).ifPresent(values::add);
        });
        return values;
    }

    private Optional<Secret> open(SecretRepository.StoredSecret storedSecret, String sealed) {
        return keys.flatMap(ring -> ring.open(sealed, context(storedSecret.project(), storedSecret.name())))
                .map(bytes -> Secret.of(new String(bytes, UTF_8)));
    }

    /** Encrypts a secret with the current master key. Returns the text to store. */
    public String seal(String project, String name, Secret value) {
        return requireKeyring().seal(value.reveal().getBytes(UTF_8), context(project, name));
    }

    private Keyring requireKeyring() {
        return keys.orElseThrow(() -> new CarillonException(
                ErrorCode.INVALID_OPTION,
                "This server has no master key to encrypt secrets. "
                        + "Set CARILLON_MASTER_KEYS_FILE and restart it."));
    }

    private static String context(String project, String name) {
        return project + "|webhook_secret|" + name;
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
        Keyring ring = requireKeyring();
        String[] behind = (after + "/").split("/", -1);
        String project = behind[0];
        String name = behind[1];
        int done = 0;
        int unreadable = 0;
        for (int chunk = 0; chunk < CHUNKS_PER_CALL; chunk++) {
            List<SecretRepository.StoredSecret> some = secrets.listAllProjects(project, name, CHUNK);
            for (SecretRepository.StoredSecret storedSecret : some) {
                if (isCurrent(ring, storedSecret)) continue;
                Optional<String> fresh =
                        ring.reseal(storedSecret.sealed(), context(storedSecret.project(), storedSecret.name()));
                if (fresh.isEmpty()) unreadable++;
                else if (secrets.reseal(storedSecret, fresh.get(), previous(ring, storedSecret))) done++;
            }
            if (some.size() < CHUNK) return new ResealResult(done, unreadable, null);
            project = some.get(some.size() - 1).project();
            name = some.get(some.size() - 1).name();
        }
        return new ResealResult(done, unreadable, project + "/" + name);
    }

    private static boolean isCurrent(Keyring ring, SecretRepository.StoredSecret storedSecret) {
        return ring.isCurrent(storedSecret.sealed())
                && (storedSecret.previous() == null || ring.isCurrent(storedSecret.previous()));
    }

    private static @Nullable String previous(Keyring ring, SecretRepository.StoredSecret storedSecret) {
        String previous = storedSecret.previous();
        if (previous == null) return null;
        return ring.reseal(previous, context(storedSecret.project(), storedSecret.name()))
                .orElse(previous);
    }
}
