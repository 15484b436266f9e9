package io.carillon.server.access;

import java.time.Duration;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/** Rows of the database by name, each kept for three seconds, including the absence of a row. */
final class ShortCache<T> {
    private static final long KEPT_NANOS = Duration.ofSeconds(3).toNanos();
    private static final int MAX_CACHED = 10_000;

    private final Function<String, Optional<T>> database;
    private final Map<String, CachedRow<T>> rows = new ConcurrentHashMap<>();

    private record CachedRow<T>(Optional<T> row, long readNanos) {}

    /** Creates a cache of the rows that this function reads. */
    ShortCache(Function<String, Optional<T>> database) {
        this.database = database;
    }

    Optional<T> find(String name) {
        long now = System.nanoTime();
        CachedRow<T> before = rows.get(name);
        if (before != null && now - before.readNanos() < KEPT_NANOS) return before.row();
        if (rows.size() >= MAX_CACHED) evict(now);
        Optional<T> row = database.apply(name);
        rows.put(name, new CachedRow<>(row, now));
        return row;
    }

    /** Removes old rows and a tenth of the others, so that callers who invent names do not empty the whole cache. */
    private synchronized void evict(long now) {
        if (rows.size() < MAX_CACHED) return;
        rows.values().removeIf(cached -> now - cached.readNanos() >= KEPT_NANOS);
        Iterator<String> names = rows.keySet().iterator();
        for (int removed = 0; removed < MAX_CACHED / 10 && rows.size() > MAX_CACHED * 9 / 10; removed++) {
            names.next();
            names.remove();
        }
    }
}
