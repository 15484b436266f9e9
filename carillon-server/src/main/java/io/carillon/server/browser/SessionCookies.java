package io.carillon.server.browser;

import io.carillon.server.http.ApiRequest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Session cookies: the key or token of a caller with the end of the session, encrypted. Each request checks the key or
 * token again, so that a session ends with it.
 */
public final class SessionCookies {
    /** The longest time that a session lasts. */
    static final Duration MAX_AGE = Duration.ofHours(12);
    /** Browsers reject a cookie of more than 4,096 bytes, including its attributes. */
    private static final int MAX_BEARER_LENGTH = 2_700;

    private final EncryptedCookie cookie;

    /**
     * Creates cookies.
     *
     * @param secret 32 bytes
     * @param onlyLocal whether the server listens on a loopback address and is not known by any other name
     */
    public SessionCookies(byte[] secret, boolean onlyLocal) {
        cookie = new EncryptedCookie(
                new EncryptedCookie.Kind("carillon-session", "carillon session", "Strict"), secret, onlyLocal);
    }

    static boolean fits(String bearer) {
        return bearer.length() <= MAX_BEARER_LENGTH;
    }

    /** Returns the value of {@code Set-Cookie} for a session of this key or token, until the end of the session. */
    public String setCookie(ApiRequest request, String bearer, Instant expiresAt, Instant now) {
        byte[] text = bearer.getBytes(StandardCharsets.UTF_8);
        byte[] plain = ByteBuffer.allocate(Long.BYTES + text.length)
                .putLong(expiresAt.toEpochMilli())
                .put(text)
                .array();
        return cookie.set(request, plain, Duration.between(now, expiresAt));
    }

    /** Returns the value of {@code Set-Cookie} that removes the cookie from the browser. */
    String removeCookie(ApiRequest request) {
        return cookie.remove(request);
    }

    /** Returns whether the request has a session cookie, valid or not. */
    boolean isPresent(ApiRequest request) {
        return cookie.isPresent(request);
    }

    /** Returns the key or token of the session; empty if there is none, it was forged, or it has ended. */
    Optional<String> bearer(ApiRequest request, Instant now) {
        return cookie.read(request)
                .filter(plain -> plain.length >= Long.BYTES)
                .map(ByteBuffer::wrap)
                .flatMap(plain -> {
                    Instant expiresAt = Instant.ofEpochMilli(plain.getLong());
                    if (!now.isBefore(expiresAt)) return Optional.empty();
                    return Optional.of(StandardCharsets.UTF_8.decode(plain).toString());
                });
    }
}
