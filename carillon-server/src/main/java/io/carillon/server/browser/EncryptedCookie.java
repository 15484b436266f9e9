package io.carillon.server.browser;

import io.carillon.server.cipher.AesGcm;
import io.carillon.server.http.ApiRequest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import javax.crypto.spec.SecretKeySpec;

/**
 * A cookie that scripts cannot read, encrypted (AES-256-GCM) with a secret that all servers on a database share.
 * Browsers send it to this host only.
 */
public final class EncryptedCookie {
    /** A browser accepts a cookie with this prefix only over TLS and only from the host itself. */
    private static final String SECURE_PREFIX = "__Host-";
    /** Headers that proxies add. */
    private static final List<String> FORWARDED =
            List.of("Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP");

    private static final SecureRandom RANDOM = new SecureRandom();

    private final Kind kind;
    private final SecretKeySpec secret;
    private final boolean onlyLocal;

    /**
     * What a cookie is for.
     *
     * @param context an encrypted value is valid in its context only
     * @param sameSite which requests that other sites cause contain the cookie: {@code Strict} for none, {@code Lax}
     *     for a link or redirect to this server
     */
    public record Kind(String name, String context, String sameSite) {}

    /**
     * Creates a cookie.
     *
     * @param secret 32 bytes
     * @param onlyLocal whether the server listens on a loopback address and is not known by any other name
     */
    public EncryptedCookie(Kind kind, byte[] secret, boolean onlyLocal) {
        this.kind = kind;
        this.secret = new SecretKeySpec(secret, "AES");
        this.onlyLocal = onlyLocal;
    }

    /** Returns the value of {@code Set-Cookie} for these bytes. */
    public String set(ApiRequest request, byte[] plain, Duration maxAge) {
        byte[] nonce = new byte[AesGcm.NONCE_BYTES];
        RANDOM.nextBytes(nonce);
        byte[] sealed = AesGcm.seal(secret, nonce, kind.context(), plain);
        return header(isSecure(request), Base64.getUrlEncoder().withoutPadding().encodeToString(sealed), maxAge);
    }

    /** Returns the value of {@code Set-Cookie} that removes the cookie from the browser. */
    public String remove(ApiRequest request) {
        return header(value(request, SECURE_PREFIX + kind.name()).isPresent() || isSecure(request), "", Duration.ZERO);
    }

    private String header(boolean secure, String value, Duration maxAge) {
        return "%s=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=%s%s"
                .formatted(
                        secure ? SECURE_PREFIX + kind.name() : kind.name(),
                        value,
                        maxAge.toSeconds(),
                        kind.sameSite(),
                        secure ? "; Secure" : "");
    }

    /**
     * Returns whether the cookie is sent over TLS only. The server itself has no TLS, but a proxy in front of it has. A
     * browser on the same machine needs none, but a proxy may make its requests look like those of such a browser.
     * Therefore no proxy must be known, in the configuration or in the request.
     */
    private boolean isSecure(ApiRequest request) {
        return !onlyLocal
                || !AllowedHosts.isLoopback(request.header("Host").orElse(""))
                || request.header("Origin").orElse("").startsWith("https:")
                || FORWARDED.stream().anyMatch(header -> request.header(header).isPresent());
    }

    /** Returns whether the request has the cookie, valid or not. */
    boolean isPresent(ApiRequest request) {
        return value(request).isPresent();
    }

    /** Returns the bytes of the cookie; empty if there is none, or it was forged. */
    public Optional<byte[]> read(ApiRequest request) {
        return value(request).flatMap(this::open);
    }

    private Optional<byte[]> open(String value) {
        try {
            return AesGcm.open(secret, kind.context(), Base64.getUrlDecoder().decode(value));
        } catch (IllegalArgumentException malformed) {
            return Optional.empty();
        }
    }

    private Optional<String> value(ApiRequest request) {
        Optional<String> secure = value(request, SECURE_PREFIX + kind.name());
        return secure.isPresent() || isSecure(request) ? secure : value(request, kind.name());
    }

    private static Optional<String> value(ApiRequest request, String name) {
        String prefix = name + "=";
        return Arrays.stream(request.header("Cookie").orElse("").split("[;,]", -1))
                .map(String::strip)
                .filter(pair -> pair.startsWith(prefix))
                .map(pair -> pair.substring(prefix.length()))
                .findFirst();
    }
}
