package io.carillon.server.login;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/**
 * A login in progress, which its browser keeps in an encrypted cookie: any server of the database can complete it, and
 * no other browser can.
 *
 * @param state comes back from the provider through the browser
 * @param nonce comes back in the identity token
 * @param verifier proves to the provider that the same server completes the login (PKCE)
 */
record LoginState(String state, String nonce, String verifier, Instant startedAt) {
    /** The longest time that a user may take to log in at the provider. */
    static final Duration LIFETIME = Duration.ofMinutes(10);

    private static final int RANDOM_BYTES = 32;
    private static final SecureRandom RANDOM = new SecureRandom();

    static LoginState start(Instant now) {
        return new LoginState(random(), random(), random(), now);
    }

    private static String random() {
        byte[] bytes = new byte[RANDOM_BYTES];
        RANDOM.nextBytes(bytes);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /** Returns the content of the cookie. */
    byte[] bytes() {
        return String.join(" ", state, nonce, verifier, Long.toString(startedAt.toEpochMilli()))
                .getBytes(StandardCharsets.US_ASCII);
    }

    /** Reads the content of a cookie, which only a server can have written. */
    static Optional<LoginState> of(byte[] bytes) {
        List<String> parts = List.of(new String(bytes, StandardCharsets.US_ASCII).split(" ", -1));
        if (parts.size() != 4) return Optional.empty();
        return Optional.of(new LoginState(
                parts.get(0), parts.get(1), parts.get(2), Instant.ofEpochMilli(Long.parseLong(parts.get(3)))));
    }

    /** Returns whether a response of the provider belongs to this login, which must not be too old. */
    boolean matches(String returned, Instant now) {
        return now.isBefore(startedAt.plus(LIFETIME))
                && MessageDigest.isEqual(
                        state.getBytes(StandardCharsets.US_ASCII), returned.getBytes(StandardCharsets.UTF_8));
    }
}
