package io.carillon.server.store;

import io.carillon.event.EventPattern;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.postgres.reads.EventReads;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The patterns of the subscriptions of a project that are not paused, cached for three seconds: this saves a round trip
 * for nearly every publish. Thread-safe.
 */
public final class SubscriptionPatterns {
    private static final long CACHE_NANOS = Duration.ofSeconds(3).toNanos();
    private static final int MAX_CACHED = 10_000;

    /** More subscriptions than these are not counted. */
    private static final int MAX_PATTERNS = 10_000;

    private record Cached(List<EventPattern> patterns, long readNanos) {}

    private final Map<String, Cached> cached = new ConcurrentHashMap<>();

    /** Returns the pattern of each subscription. */
    public List<EventPattern> of(Session session, String project) throws SQLException {
        long now = System.nanoTime();
        Cached before = cached.get(project);
        if (before != null && now - before.readNanos() < CACHE_NANOS) return before.patterns();
        List<EventPattern> patterns = List.copyOf(EventReads.activePatterns(session, project, MAX_PATTERNS));
        if (cached.size() > MAX_CACHED) cached.clear();
        cached.put(project, new Cached(patterns, now));
        return patterns;
    }
}
