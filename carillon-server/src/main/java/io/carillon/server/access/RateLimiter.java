package io.carillon.server.access;

import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;

/** A token bucket for each name. It limits this node only: a cluster of three nodes allows three times the rate. */
final class RateLimiter {
    private static final int MAX_BUCKETS = 100_000;

    private final Map<String, Bucket> buckets = new ConcurrentHashMap<>();

    private static final class Bucket {
        private double available;
        private long refilledNanos;

        Bucket(double tokens, long at) {
            this.available = tokens;
            this.refilledNanos = at;
        }

        synchronized double available() {
            return available;
        }

        synchronized OptionalLong tryAcquire(double perSecond, double capacity, long now) {
            available = Math.min(capacity, available + (now - refilledNanos) / 1e9 * perSecond);
            refilledNanos = now;
            if (available < 1) return OptionalLong.of((long) Math.ceil((1 - available) / perSecond));
            available -= 1;
            return OptionalLong.empty();
        }
    }

    /** Returns the number of tokens that the last call left; 0 if there was none. */
    double available(String name) {
        Bucket bucket = buckets.get(name);
        return bucket == null ? 0 : bucket.available();
    }

    /** Takes one token. Returns empty on success, otherwise the seconds to wait. */
    OptionalLong tryAcquire(String name, double perSecond, double burst) {
        if (buckets.size() > MAX_BUCKETS) buckets.clear();
        double most = Math.max(1, burst);
        long now = System.nanoTime();
        return buckets.computeIfAbsent(name, n -> new Bucket(most, now)).tryAcquire(perSecond, most, now);
    }
}
