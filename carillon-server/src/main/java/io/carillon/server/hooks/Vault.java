package io.carillon.server.hooks;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.carillon.seal.Keyring;
import io.carillon.seal.Secret;
import io.carillon.server.store.SecretRepository;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.webhook.SecretSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Seals the secrets of projects and opens them for deliveries. A sealed text opens only under the project and name it was made for. Thread-safe. */
public final class Vault implements SecretSource {
    private static final Logger log = LoggerFactory.getLogger(Vault.class);
    private static final int CHUNK = 500;
    /** So many are looked at by one call of {@link #reseal}. */
    private static final int CHUNKS = 20;

    private final SecretRepository secrets;
    private final Optional<Keyring> keys;

    Vault(SecretRepository secrets, Optional<Keyring> keys) {
        this.secrets = secrets;
        this.keys = keys;
    }

    /** The table behind it. */
    public SecretRepository table() {
        return secrets;
    }

    /** Whether there is a master key, and so secrets. */
    public boolean isOpen() {
        return keys.isPresent();
    }

    /** Refuses to go on where deliveries would fail for want of the right master key. */
    void check() {
        List<SecretRepository.Kept> some = secrets.all("", "", CHUNK);
        if (some.isEmpty()) return;
        if (keys.isEmpty())
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "The database holds secrets of webhooks, and there is no master key to open them. Set CARILLON_MASTER_KEYS_FILE or CARILLON_MASTER_KEYS to the keys they were sealed with.");
        long opened = some.stream()
                .filter(one -> opened(one, one.sealed()).isPresent())
                .count();
        if (opened == 0)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "None of the master keys opens the secrets in this database. Add the key they were sealed with to the file of keys.");
        if (opened < some.size())
            log.warn(
                    "secrets of webhooks cannot be opened, their key is missing secrets={} of={}",
                    some.size() - opened,
                    some.size());
    }

    @Override
    public List<Secret> find(String project, String name) {
        List<Secret> values = new ArrayList<>();
        secrets.find(project, name).ifPresent(kept -> {
            opened(kept, kept.sealed()).ifPresent(values::add);
            if (kept.previous() != null) opened(kept, kept.previous()).ifPresent(values::add);
        });
        return values;
    }

    private Optional<Secret> opened(SecretRepository.Kept kept, String sealed) {
        return keys.flatMap(ring -> ring.open(sealed, context(kept.project(), kept.name())))
                .map(bytes -> Secret.of(new String(bytes, UTF_8)));
    }

    /** The form in which it is stored. */
    public String seal(String project, String name, Secret value) {
        return ring().seal(value.reveal().getBytes(UTF_8), context(project, name));
    }

    private Keyring ring() {
        return keys.orElseThrow(
                () -> new CarillonException(
                        ErrorCode.INVALID_OPTION,
                        "This server has no master key to keep secrets with. Set CARILLON_MASTER_KEYS_FILE and start it again."));
    }

    private static String context(String project, String name) {
        return project + "|webhook_secret|" + name;
    }

    /**
     * What became of some thousand secrets: those sealed anew, those that no key opens.
     *
     * @param next where to go on; null: that was the last
     */
    public record Resealed(
            int done, int unreadable, @Nullable String next) {}

    /** Seals what was sealed with an older key with the current one, each for itself: it may be interrupted and repeated at any time. */
    public Resealed reseal(String after) {
        Keyring ring = ring();
        String[] behind = (after + "/").split("/", -1);
        String project = behind[0];
        String name = behind[1];
        int done = 0;
        int unreadable = 0;
        for (int chunk = 0; chunk < CHUNKS; chunk++) {
            List<SecretRepository.Kept> some = secrets.all(project, name, CHUNK);
            for (SecretRepository.Kept kept : some) {
                if (isCurrent(ring, kept)) continue;
                Optional<String> fresh = ring.reseal(kept.sealed(), context(kept.project(), kept.name()));
                if (fresh.isEmpty()) unreadable++;
                else if (secrets.reseal(kept, fresh.get(), previous(ring, kept))) done++;
            }
            if (some.size() < CHUNK) return new Resealed(done, unreadable, null);
            project = some.get(some.size() - 1).project();
            name = some.get(some.size() - 1).name();
        }
        return new Resealed(done, unreadable, project + "/" + name);
    }

    private static boolean isCurrent(Keyring ring, SecretRepository.Kept kept) {
        return ring.isCurrent(kept.sealed()) && (kept.previous() == null || ring.isCurrent(kept.previous()));
    }

    private static @Nullable String previous(Keyring ring, SecretRepository.Kept kept) {
        String previous = kept.previous();
        if (previous == null) return null;
        return ring.reseal(previous, context(kept.project(), kept.name())).orElse(previous);
    }
}
