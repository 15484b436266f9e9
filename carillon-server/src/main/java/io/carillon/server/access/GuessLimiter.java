package io.carillon.server.access;

import io.carillon.server.http.Problem;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Counts the invalid keys and tokens of each network, of which only some are recorded. Valid ones are not counted and
 * never wait: clients behind the same proxy as an attacker keep their access.
 */
public final class GuessLimiter {
    private static final double PER_SECOND = 1;
    private static final double BURST = 30;

    private final RateLimiter limiter = new RateLimiter();

    /** Counts an invalid key or token. Returns a problem with status 429 if it was one too many. */
    Optional<Problem> count(String address) {
        OptionalLong wait = take(ClientNetwork.of(address));
        return wait.isEmpty() ? Optional.empty() : Optional.of(tooMany(wait.getAsLong()));
    }

    /** Counts a request with a session whose key or token is no longer valid. Returns whether to record it. */
    boolean countEndedSession(String address) {
        return take("session " + ClientNetwork.of(address)).isEmpty();
    }

    private OptionalLong take(String name) {
        return limiter.tryAcquire(name, PER_SECOND, BURST);
    }

    private static Problem tooMany(long seconds) {
        return Problem.of(
                        429,
                        "too-many-failures",
                        "Too many invalid keys were sent from this address. Wait for the time in Retry-After.")
                .withHeader("Retry-After", Long.toString(seconds));
    }
}
