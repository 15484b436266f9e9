package io.carillon.server.request;

import io.carillon.CarillonException;
import io.carillon.internal.value.Names;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.KeyLimits;
import io.carillon.server.http.Problem;
import io.carillon.server.store.IdempotencyRepository.StoredResponse;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;

/**
 * The Idempotency-Key of a request, and the hash that tells a repetition of the request from another request.
 *
 * @param key the key as it is stored. Those of restricted API keys are apart: such an API key must not prevent requests
 *     of others, nor get their responses
 * @param hash the hash of path and body
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record IdempotentRequest(String key, byte[] hash) {
    private static final String HEADER = "Idempotency-Key";

    /**
     * Returns the key of a request; empty if it has none.
     *
     * @throws Problem with status 400 if the key is malformed
     */
    public static Optional<IdempotentRequest> of(ApiRequest request) {
        return request.header(HEADER)
                .map(key -> new IdempotentRequest(
                        stored(checked(key), request.caller().limits()), hash(request)));
    }

    /**
     * Rejects an Idempotency-Key on requests whose response shows a secret, because that response must not be stored.
     */
    public static void refuseKey(ApiRequest request) {
        refuseKey(request, "The response shows a secret and is not stored.");
    }

    /** Rejects a request with a key, for this reason. */
    public static void refuseKey(ApiRequest request, String why) {
        if (request.header(HEADER).isPresent())
            throw Problem.of(400, "invalid-header", why + " The field \"errors\" says where.")
                    .withFault(HEADER, "This operation does not accept the header. Leave it out.");
    }

    private static String checked(String key) {
        try {
            return Names.checkKey(HEADER, key);
        } catch (CarillonException wrong) {
            throw Problem.of(400, "invalid-header", "Invalid header. The field \"errors\" says where.")
                    .withFault(HEADER, String.valueOf(wrong.getMessage()));
        }
    }

    /** API keys with the same restriction share their keys: the one that replaces another continues its requests. */
    private static String stored(String key, KeyLimits limits) {
        if (!limits.isRestricted()) return key;
        byte[] digest = sha256(String.join("\0", limits.restriction(), key), new byte[0]);
        return "restricted-" + Base64.getUrlEncoder().withoutPadding().encodeToString(digest);
    }

    private static byte[] hash(ApiRequest request) {
        return sha256(request.requestedPath(), request.body());
    }

    private static byte[] sha256(String head, byte[] body) {
        try {
            MessageDigest hash = MessageDigest.getInstance("SHA-256");
            hash.update(head.getBytes(StandardCharsets.UTF_8));
            hash.update((byte) 0);
            return hash.digest(body);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("SHA-256 is missing in this JDK", impossible);
        }
    }

    /** Returns the stored response to this request; a problem if the key was used with a different request. */
    public ApiResponse replay(StoredResponse stored) {
        if (!Arrays.equals(stored.requestHash(), hash))
            throw Problem.of(
                    422,
                    "idempotency-key-reused",
                    "This Idempotency-Key was used with a different request. Use a new key for each request.");
        ApiResponse response = (stored.body().length == 0
                        ? ApiResponse.noContent()
                        : ApiResponse.json(stored.status(), stored.body()))
                .withHeader("Idempotency-Replayed", "true");
        ApiResponse tagged = stored.entityTag().isPresent()
                ? response.withHeader("ETag", stored.entityTag().get())
                : response;
        return stored.location().map(tagged::withLocation).orElse(tagged);
    }

    /** Returns the response as it is stored under this key. */
    public StoredResponse toStore(ApiResponse response) {
        return new StoredResponse(
                hash,
                response.status(),
                response.body(),
                Optional.ofNullable(response.headers().get("ETag")),
                Optional.ofNullable(response.headers().get("Location")));
    }

    /** Returns the problem of a request whose key another transaction has reserved and not committed. */
    public static Problem inFlight() {
        return Problem.of(
                        409,
                        "idempotency-key-in-flight",
                        "Another request with this Idempotency-Key is in progress. Try again later.")
                .withHeader("Retry-After", "1");
    }
}
