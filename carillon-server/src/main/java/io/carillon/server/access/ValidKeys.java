package io.carillon.server.access;

import io.carillon.server.store.ApiKeyRepository;
import io.carillon.server.store.ApiKeyRepository.ValidApiKey;
import java.security.MessageDigest;
import java.util.Optional;

/**
 * Finds the keys that callers send. A key is cached for three seconds, so that every node rejects a revoked key within
 * the promised five seconds. Only keys that a server on this database created are looked up, and each id at most once
 * in that time, so that invented keys and wrong secrets cost the database nothing.
 */
public final class ValidKeys {
    private final ApiKeyRepository keys;
    private final KeyIssuer issuer;
    private final ShortCache<ValidApiKey> cache = new ShortCache<>(this::read);

    public ValidKeys(ApiKeyRepository keys, KeyIssuer issuer) {
        this.keys = keys;
        this.issuer = issuer;
    }

    /** Returns the stored key; empty if there is no such key, or it has ended. */
    Optional<ValidApiKey> find(PlaintextApiKey key) {
        if (!issuer.isIssued(key.id())) return Optional.empty();
        return cache.find(key.id()).filter(stored -> MessageDigest.isEqual(stored.hash(), key.hash()));
    }

    private Optional<ValidApiKey> read(String id) {
        Optional<ValidApiKey> key = keys.findValid(id);
        if (key.isPresent() && key.get().isUseStale()) keys.markUsed(id);
        return key;
    }
}
