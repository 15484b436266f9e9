package io.carillon.server.access;

import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.Json;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.Problem;
import io.carillon.server.store.ApiKeyRepository;
import io.carillon.server.store.AuditRepository;
import io.carillon.server.store.Transactions;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Revokes a key by its value, for leaks: a finder of a key, or a scanner of public code, can end it without access. The
 * response does not say whether there was such a key, and wrong values count as guesses.
 */
public final class LeakedKeys {
    private static final int MAX_CACHED = 1_000;

    private final Transactions transactions;
    private final ApiKeyRepository keys;
    private final AuditRepository audit;
    private final KeyIssuer issuer;
    private final GuessLimiter guesses;
    /** The hashes of the keys that callers named, so that wrong values with the same id cost the database nothing. */
    private final Map<String, Optional<ApiKeyRepository.StoredHash>> cachedHashes = new ConcurrentHashMap<>();

    public LeakedKeys(
            Transactions transactions,
            ApiKeyRepository keys,
            AuditRepository audit,
            KeyIssuer issuer,
            GuessLimiter guesses) {
        this.transactions = transactions;
        this.keys = keys;
        this.audit = audit;
        this.issuer = issuer;
        this.guesses = guesses;
    }

    /** Revokes the key in the body of the request, if there is such a key. */
    public ApiResponse revoke(ApiRequest request) {
        JsonFields body = request.fields();
        String value = body.required("key", body.text("key"));
        body.refuseUnknown();
        Optional<ApiKeyRepository.StoredHash> stored = find(value);
        if (stored.isEmpty() || !revoke(request, stored.get())) {
            Optional<Problem> tooMany = guesses.count(request.remoteAddress());
            if (tooMany.isPresent()) throw tooMany.get();
        }
        return ApiResponse.noContent();
    }

    private Optional<ApiKeyRepository.StoredHash> find(String value) {
        return PlaintextApiKey.parse(value.strip())
                .filter(key -> issuer.isIssued(key.id()))
                .flatMap(key -> findHash(key.id()).filter(stored -> MessageDigest.isEqual(stored.hash(), key.hash())));
    }

    private Optional<ApiKeyRepository.StoredHash> findHash(String id) {
        Optional<ApiKeyRepository.StoredHash> before = cachedHashes.get(id);
        if (before != null) return before;
        if (cachedHashes.size() > MAX_CACHED) cachedHashes.clear();
        Optional<ApiKeyRepository.StoredHash> stored = keys.findHash(id);
        cachedHashes.put(id, stored);
        return stored;
    }

    /** Returns whether the key was still valid. From now on, its value is a wrong one, which costs no transaction. */
    private boolean revoke(ApiRequest request, ApiKeyRepository.StoredHash key) {
        byte[] detail = Json.bytes(JsonNodeFactory.instance.objectNode().put("address", request.remoteAddress()));
        AuditRepository.Change entry = new AuditRepository.Change(
                "key " + key.id(),
                "key.revoke-by-value",
                "key/" + key.id(),
                new String(detail, StandardCharsets.UTF_8),
                request.requestId());
        boolean valid = transactions.runInProject(key.project(), session -> {
            boolean revoked = keys.revoke(session, key.project(), key.id());
            if (revoked) audit.write(session, key.project(), entry);
            return revoked;
        });
        cachedHashes.put(key.id(), Optional.empty());
        return valid;
    }
}
