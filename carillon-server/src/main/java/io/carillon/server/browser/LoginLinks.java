package io.carillon.server.browser;

import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * One-time tokens of login links. A link has its token in the fragment of its URL, which a browser sends to no server;
 * the dashboard exchanges it for a session. Tokens are kept in the memory of this process only.
 */
public final class LoginLinks {
    /** The longest time that a link can be used. */
    static final Duration LIFETIME = Duration.ofMinutes(10);

    private static final int MAX_LINKS = 20;
    private static final int TOKEN_BYTES = 24;
    private static final SecureRandom RANDOM = new SecureRandom();

    private record Link(String bearer, Instant expiresAt) {}

    private final Map<String, Link> links = new LinkedHashMap<>();

    /** Returns a new token that starts a session with this key or token. The oldest one ends if there are too many. */
    public synchronized String issue(String bearer, Instant now) {
        byte[] bytes = new byte[TOKEN_BYTES];
        RANDOM.nextBytes(bytes);
        String token = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
        if (links.size() >= MAX_LINKS) links.remove(links.keySet().iterator().next());
        links.put(token, new Link(bearer, now.plus(LIFETIME)));
        return token;
    }

    /** Returns the key or token of a link, once; empty if the token is unknown, was used or has ended. */
    synchronized Optional<String> redeem(String token, Instant now) {
        return Optional.ofNullable(links.remove(token))
                .filter(link -> now.isBefore(link.expiresAt()))
                .map(Link::bearer);
    }
}
