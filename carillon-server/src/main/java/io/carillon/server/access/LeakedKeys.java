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
import java.util.Optional;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Revokes a key by its value, for leaks: a finder of a key, or a scanner of public code, can end it without access. The
 * response does not say whether there was such a key, and wrong values count as guesses.
 */
public final class LeakedKeys {
    private final Transactions transactions;
    private final ApiKeyRepository keys;
    private final AuditRepository audit;
    private final GuessLimiter guesses;

    public LeakedKeys(Transactions transactions, ApiKeyRepository keys, AuditRepository audit, GuessLimiter guesses) {
        this.transactions = transactions;
        this.keys = keys;
        this.audit = audit;
        this.guesses = guesses;
    }

    /** Revokes the key in the body of the request, if there is such a key. */
    public ApiResponse revoke(ApiRequest request) {
        JsonFields body = request.fields();
        String value = body.required("key", body.text("key"));
        body.refuseUnknown();
        guesses.check(request.remoteAddress(), value);
        Optional<ApiKeyRepository.StoredHash> stored = find(value);
        if (stored.isPresent()) revoke(request, stored.get());
        else {
            Optional<Problem> tooMany = guesses.count(request.remoteAddress(), value);
            if (tooMany.isPresent()) throw tooMany.get();
        }
        return ApiResponse.noContent();
    }

    private Optional<ApiKeyRepository.StoredHash> find(String value) {
        return PlaintextApiKey.parse(value.strip())
                .flatMap(key ->
                        keys.findHash(key.id()).filter(stored -> MessageDigest.isEqual(stored.hash(), key.hash())));
    }

    private void revoke(ApiRequest request, ApiKeyRepository.StoredHash key) {
        byte[] detail = Json.bytes(JsonNodeFactory.instance.objectNode().put("address", request.remoteAddress()));
        AuditRepository.Change entry = new AuditRepository.Change(
                "key " + key.id(),
                "key.revoke-by-value",
                "key/" + key.id(),
                new String(detail, StandardCharsets.UTF_8),
                request.requestId());
        transactions.runInProject(key.project(), session -> {
            boolean revoked = keys.revoke(session, key.project(), key.id());
            if (revoked) audit.write(session, key.project(), entry);
            return revoked;
        });
    }
}
