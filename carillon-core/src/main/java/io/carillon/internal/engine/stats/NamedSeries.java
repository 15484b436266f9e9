package io.carillon.internal.engine.stats;

import io.carillon.internal.store.stats.EndingCounter.Series;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The series that have names of their own in an hour. A project has a share of them, so that a project with very many
 * queues leaves names to the others. Thread-safe; threads may exceed a limit slightly.
 */
final class NamedSeries {
    /** The number of series that projects share. */
    static final int SHARED = 2_000;
    /** A project has at least so many, however many projects there are. */
    private static final int MIN_SHARE = 50;
    /** The number of series of all projects together: a project may have taken its share before others were known. */
    static final int MAX = 4 * SHARED;

    private final Set<Series> named = ConcurrentHashMap.newKeySet();
    private final Map<String, AtomicInteger> byProject = new ConcurrentHashMap<>();

    /** Returns whether the series has a name; gives it one if its project has less than its share. */
    boolean contains(Series series) {
        if (named.contains(series)) return true;
        if (named.size() >= MAX) return false;
        AtomicInteger own = byProject.computeIfAbsent(series.project(), project -> new AtomicInteger());
        if (own.get() >= Math.max(MIN_SHARE, SHARED / byProject.size())) return false;
        if (named.add(series)) own.incrementAndGet();
        return true;
    }
}
