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

        synchronized OptionalLong tryAcquire(double perSecond, double capacity, long now) {
            OptionalLong wait = waitingTime(perSecond, capacity, now);
            if (wait.isEmpty()) available -= 1;
            return wait;
        }

        synchronized OptionalLong waitingTime(double perSecond, double capacity, long now) {
            available = Math.min(capacity, available + (now - refilledNanos) / 1e9 * perSecond);
            refilledNanos = now;
            return available >= 1
                    ? OptionalLong.empty()
                    : OptionalLong.of((long) Math.ceil((1 - available) / perSecond));
        }
    }

    /** Takes one token. Returns empty on success, otherwise the seconds to wait. */
    OptionalLong tryAcquire(String name, double perSecond, double burst) {
        if (buckets.size() > MAX_BUCKETS) buckets.clear();
        double most = Math.max(1, burst);
        long now = System.nanoTime();
        return buckets.computeIfAbsent(name, n -> new Bucket(most, now)).tryAcquire(perSecond, most, now);
    }

    /** Returns the seconds until there is a token, without taking it; empty if there is one. */
    OptionalLong waitingTime(String name, double perSecond, double burst) {
        Bucket bucket = buckets.get(name);
        return bucket == null
                ? OptionalLong.empty()
                : bucket.waitingTime(perSecond, Math.max(1, burst), System.nanoTime());
    }
}
