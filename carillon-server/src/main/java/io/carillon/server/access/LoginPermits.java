package io.carillon.server.access;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Limits the logins that wait for the identity provider at the same time. Anonymous clients can cause them, so a
 * network from which too many logins failed has few permits, which it shares with other such networks, and does not
 * wait for one. Logins that succeed are not counted.
 */
public final class LoginPermits {
    private static final int MAX_CONCURRENT = 8;
    private static final int MAX_CONCURRENT_SUSPECTS = 2;
    /** Each waits on a thread. */
    private static final int MAX_WAITING = 16;

    private static final Duration WAIT = Duration.ofSeconds(2);
    private static final double FAILURES_PER_SECOND = 0.2;
    private static final double FAILURES = 20;
    private static final long SUSPECT_NANOS = Duration.ofMinutes(1).toNanos();
    private static final int MAX_SUSPECTS = 100_000;

    private final Semaphore permits = new Semaphore(MAX_CONCURRENT, true);
    private final Semaphore suspectPermits = new Semaphore(MAX_CONCURRENT_SUSPECTS);
    private final RateLimiter failures = new RateLimiter();
    private final Map<String, Long> suspects = new ConcurrentHashMap<>();

    /** The right to wait for the provider. */
    @FunctionalInterface
    public interface Permit {
        void release();
    }

    /** Takes a permit for a client of this address, and waits a moment for one. Returns empty if there is none. */
    public Optional<Permit> take(String address) {
        Semaphore from = isSuspect(ClientNetwork.of(address)) ? suspectPermits : permits;
        return acquire(from) ? Optional.of(from::release) : Optional.empty();
    }

    private boolean acquire(Semaphore from) {
        if (from == suspectPermits || from.getQueueLength() >= MAX_WAITING) return from.tryAcquire();
        try {
            return from.tryAcquire(WAIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private boolean isSuspect(String network) {
        Long since = suspects.get(network);
        if (since == null) return false;
        if (System.nanoTime() - since < SUSPECT_NANOS) return true;
        suspects.remove(network, since);
        return false;
    }

    /** Counts a login of this address that the provider or the server refused. */
    public void countFailure(String address) {
        String network = ClientNetwork.of(address);
        if (failures.tryAcquire(network, FAILURES_PER_SECOND, FAILURES).isEmpty()) return;
        if (suspects.size() >= MAX_SUSPECTS) suspects.clear();
        suspects.put(network, System.nanoTime());
    }
}
