package io.carillon.server.browser;

import io.carillon.server.http.ApiRequest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Session cookies: the key or token of a caller with the end of the session, encrypted (AES-256-GCM) with a secret that
 * all servers on a database share. No table is needed. Each request checks the key or token again, so that a session
 * ends with it.
 */
public final class SessionCookies {
    /** The longest time that a session lasts. */
    static final Duration MAX_AGE = Duration.ofHours(12);
    /** Browsers reject a cookie of more than 4,096 bytes, including its attributes. */
    private static final int MAX_BEARER_LENGTH = 2_700;

    /** A browser accepts a cookie with this prefix only over TLS and only from the host itself. */
    private static final String SECURE_NAME = "__Host-carillon-session";

    private static final String LOOPBACK_NAME = "carillon-session";
    private static final byte FORMAT = 1;
    private static final int NONCE_BYTES = 12;
    private static final int TAG_BITS = 128;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final SecretKeySpec secret;

    /** Creates cookies with a secret of 32 bytes. */
    public SessionCookies(byte[] secret) {
        this.secret = new SecretKeySpec(secret, "AES");
    }

    static boolean fits(String bearer) {
        return bearer.length() <= MAX_BEARER_LENGTH;
    }

    /** Returns the value of {@code Set-Cookie} for a session of this key or token. */
    String setCookie(ApiRequest request, String bearer, Instant expiresAt) {
        byte[] text = bearer.getBytes(StandardCharsets.UTF_8);
        byte[] plain = ByteBuffer.allocate(Long.BYTES + text.length)
                .putLong(expiresAt.getEpochSecond())
                .put(text)
                .array();
        byte[] nonce = new byte[NONCE_BYTES];
        RANDOM.nextBytes(nonce);
        try {
            byte[] sealed = cipher(Cipher.ENCRYPT_MODE, nonce).doFinal(plain);
            byte[] value = ByteBuffer.allocate(1 + NONCE_BYTES + sealed.length)
                    .put(FORMAT)
                    .put(nonce)
                    .put(sealed)
                    .array();
            return cookie(request, Base64.getUrlEncoder().withoutPadding().encodeToString(value), MAX_AGE);
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException("AES/GCM is missing in this JDK", impossible);
        }
    }

    /** Returns the value of {@code Set-Cookie} that removes the cookie from the browser. */
    static String removeCookie(ApiRequest request) {
        return cookie(request, "", Duration.ZERO);
    }

    private static String cookie(ApiRequest request, String value, Duration maxAge) {
        boolean secure = isSecure(request);
        return "%s=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Strict%s"
                .formatted(name(secure), value, maxAge.toSeconds(), secure ? "; Secure" : "");
    }

    /** The server itself has no TLS, but a proxy in front of it has. A browser on the same machine needs none. */
    private static boolean isSecure(ApiRequest request) {
        return !AllowedHosts.isLoopback(request.header("Host").orElse(""));
    }

    private static String name(boolean secure) {
        return secure ? SECURE_NAME : LOOPBACK_NAME;
    }

    /** Returns whether the request has a session cookie, valid or not. */
    static boolean isPresent(ApiRequest request) {
        return value(request).isPresent();
    }

    /** Returns the key or token of the session; empty if there is none, it was forged, or it has ended. */
    Optional<String> bearer(ApiRequest request, Instant now) {
        return value(request).flatMap(this::open).flatMap(plain -> {
            Instant expiresAt = Instant.ofEpochSecond(plain.getLong());
            if (!now.isBefore(expiresAt)) return Optional.empty();
            return Optional.of(StandardCharsets.UTF_8.decode(plain).toString());
        });
    }

    private static Optional<String> value(ApiRequest request) {
        String prefix = name(isSecure(request)) + "=";
        return Arrays.stream(request.header("Cookie").orElse("").split("[;,]", -1))
                .map(String::strip)
                .filter(pair -> pair.startsWith(prefix))
                .map(pair -> pair.substring(prefix.length()))
                .findFirst();
    }

    private Optional<ByteBuffer> open(String value) {
        try {
            byte[] bytes = Base64.getUrlDecoder().decode(value);
            if (bytes.length <= 1 + NONCE_BYTES || bytes[0] != FORMAT) return Optional.empty();
            byte[] nonce = Arrays.copyOfRange(bytes, 1, 1 + NONCE_BYTES);
            byte[] plain =
                    cipher(Cipher.DECRYPT_MODE, nonce).doFinal(bytes, 1 + NONCE_BYTES, bytes.length - 1 - NONCE_BYTES);
            return plain.length < Long.BYTES ? Optional.empty() : Optional.of(ByteBuffer.wrap(plain));
        } catch (GeneralSecurityException | IllegalArgumentException forged) {
            return Optional.empty();
        }
    }

    private Cipher cipher(int mode, byte[] nonce) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(mode, secret, new GCMParameterSpec(TAG_BITS, nonce));
        cipher.updateAAD("carillon session".getBytes(StandardCharsets.US_ASCII));
        return cipher;
    }
}
