package io.carillon.server.access;

import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;

/** So much a second for each name, with a second's worth at once. On this node only: a cluster of three lets three times as much pass. */
final class Buckets {
    private static final int MOST = 100_000;

    private final Map<String, Bucket> buckets = new ConcurrentHashMap<>();

    private static final class Bucket {
        private double tokens;
        private long at;

        Bucket(double tokens, long at) {
            this.tokens = tokens;
            this.at = at;
        }

        synchronized OptionalLong take(double perSecond, double most, long now) {
            tokens = Math.min(most, tokens + (now - at) / 1e9 * perSecond);
            at = now;
            if (tokens >= 1) {
                tokens -= 1;
                return OptionalLong.empty();
            }
            return OptionalLong.of((long) Math.ceil((1 - tokens) / perSecond));
        }
    }

    /** Takes one; present: there is none, and so many seconds must pass. */
    OptionalLong take(String name, double perSecond, double burst) {
        if (buckets.size() > MOST) buckets.clear();
        double most = Math.max(1, burst);
        long now = System.nanoTime();
        return buckets.computeIfAbsent(name, n -> new Bucket(most, now)).take(perSecond, most, now);
    }
}
