package io.carillon.server.access;

import io.carillon.server.http.Problem;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Limits the number of invalid keys from each network. It is asked before the database is, so that guesses cost the
 * database nothing once the limit is reached. Keys that this node accepted before are not guesses: clients behind the
 * same proxy as an attacker keep their access.
 */
public final class GuessLimiter {
    private static final double PER_SECOND = 1;
    private static final double BURST = 30;
    private static final int MAX_ACCEPTED = 10_000;

    private final RateLimiter limiter = new RateLimiter();
    private final Set<String> accepted =
            Collections.synchronizedSet(Collections.newSetFromMap(new LeastRecentlyUsed()));

    private static final class LeastRecentlyUsed extends LinkedHashMap<String, Boolean> {
        private static final long serialVersionUID = 1L;

        LeastRecentlyUsed() {
            super(16, 0.75f, true);
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
            return size() > MAX_ACCEPTED;
        }
    }

    /** Throws a problem with status 429 if the network of this address has used up its guesses. */
    public void check(String address, String bearer) {
        OptionalLong wait = limiter.waitingTime(ClientNetwork.of(address), PER_SECOND, BURST);
        if (wait.isPresent() && !accepted.contains(hash(bearer))) throw tooMany(wait.getAsLong());
    }

    /** Records a valid key or token. */
    void accept(String bearer) {
        accepted.add(hash(bearer));
    }

    /** Counts an invalid key. Returns a problem with status 429 if it was one too many. */
    public Optional<Problem> count(String address, String bearer) {
        accepted.remove(hash(bearer));
        OptionalLong wait = limiter.tryAcquire(ClientNetwork.of(address), PER_SECOND, BURST);
        return wait.isEmpty() ? Optional.empty() : Optional.of(tooMany(wait.getAsLong()));
    }

    private static Problem tooMany(long seconds) {
        return Problem.of(
                        429,
                        "too-many-failures",
                        "Too many invalid keys were sent from this address. Wait for the time in Retry-After.")
                .withHeader("Retry-After", Long.toString(seconds));
    }

    /** A hash, so that the memory of the process does not collect keys. */
    private static String hash(String bearer) {
        try {
            byte[] bytes = bearer.getBytes(StandardCharsets.UTF_8);
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("SHA-256 is missing in this JDK", impossible);
        }
    }
}
