package io.carillon.internal.engine;

import io.carillon.internal.store.event.EventDispatchStore;
import io.carillon.internal.store.event.EventDispatchStore.Backlog;
import io.carillon.internal.store.event.EventDispatchStore.Cursor;
import io.carillon.internal.store.event.EventDispatchStore.Lane;
import io.carillon.internal.store.event.EventDispatchStore.Subscriber;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * How many runs past events may add. A subscription with a cursor of its own creates runs until its lane has
 * {@link #MAX_RUNS}, and continues when enough of them have ended, so that a replay does not fill the table of runs.
 * Subscriptions whose lane is full are remembered, so that they are counted once per second and do not hold back
 * others.
 */
final class BacklogLimiter {
    /** With this number of runs, a lane gets none for past events. */
    static final int MAX_RUNS = 10_000;

    /** A full lane gets runs again when this many have ended, so that single ends cause no statements. */
    private static final int MIN_FREE = MAX_RUNS / 10;

    /** One statement counts the runs of at most this number of subscriptions. */
    private static final int COUNTED = 500;

    private static final long RECOUNT_NANOS = Duration.ofSeconds(1).toNanos();

    /** This number of subscriptions with a full lane is counted again in one round. */
    private static final int RECOUNTED = 50;

    private final EventDispatchStore store;
    /** Subscriptions whose lane is full, and when it was counted; the oldest first. */
    private final Map<Subscriber, Long> full = new LinkedHashMap<>();

    BacklogLimiter(EventDispatchStore store) {
        this.store = store;
    }

    /** Forgets some of the subscriptions whose lane was full, so that they are counted again. */
    void beginRound() {
        long now = System.nanoTime();
        Iterator<Long> counted = full.values().iterator();
        for (int i = 0; i < RECOUNTED && counted.hasNext(); i++) {
            if (now - counted.next() < RECOUNT_NANOS) return;
            counted.remove();
        }
    }

    /** Returns the subscriptions whose lane is full. */
    Collection<Subscriber> full() {
        return full.keySet();
    }

    /**
     * Returns how many events each of these subscriptions may get now. Subscriptions whose lane is full, or that
     * were not counted, are missing.
     */
    Map<Cursor, Integer> allowed(List<Cursor> cursors) {
        Set<Subscriber> counted = new LinkedHashSet<>();
        for (Cursor each : cursors) {
            if (counted.size() == COUNTED) break;
            counted.add(each.name().subscriber());
        }
        Map<Subscriber, Backlog> backlogs = new HashMap<>();
        store.backlogs(counted, MAX_RUNS).forEach(backlog -> backlogs.put(backlog.subscriber(), backlog));
        Map<Lane, Integer> sharing = new HashMap<>();
        for (Cursor each : cursors) {
            Backlog backlog = backlogs.get(each.name().subscriber());
            if (backlog != null) sharing.merge(backlog.lane(), 1, Integer::sum);
        }
        Map<Cursor, Integer> allowed = new LinkedHashMap<>();
        for (Cursor each : cursors) {
            Backlog backlog = backlogs.get(each.name().subscriber());
            if (backlog == null) continue;
            int left = (int) (MAX_RUNS - backlog.runs());
            if (left < MIN_FREE) full.put(backlog.subscriber(), System.nanoTime());
            else allowed.put(each, Math.max(1, left / sharing.getOrDefault(backlog.lane(), 1)));
        }
        return allowed;
    }
}
