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
import java.util.stream.Stream;

/**
 * How many runs past events may add. A subscription with a cursor of its own creates runs until its lane has
 * {@link #MAX_RUNS}, and continues when enough of them have ended, so that a replay does not fill the table of runs.
 * The lanes of a project have {@link #MAX_RUNS_OF_PROJECT} together. Subscriptions whose lane or project is full are
 * remembered, so that they are counted once per second and do not hold back others.
 */
final class BacklogLimiter {
    /** With this number of runs, a lane gets none for past events. */
    static final int MAX_RUNS = 10_000;

    /** With this number of runs in the lanes of such subscriptions, a project gets none for past events. */
    static final int MAX_RUNS_OF_PROJECT = 100_000;

    /** A full lane gets runs again when this many have ended, so that single ends cause no statements. */
    private static final int MIN_FREE = MAX_RUNS / 10;

    /** One statement counts the runs of at most this number of subscriptions. */
    private static final int COUNTED = 500;

    private static final long RECENT_NANOS = Duration.ofSeconds(5).toNanos();

    private static final long RECOUNT_NANOS = Duration.ofSeconds(1).toNanos();

    /** This number of subscriptions with a full lane is counted again in one round. */
    private static final int RECOUNTED = 50;

    private final EventDispatchStore store;
    /** Subscriptions whose lane or project is full; the one that was counted first is the first. */
    private final Map<Subscriber, Counted> full = new LinkedHashMap<>();

    /** The lanes that were counted in the last seconds: one call counts only some of the lanes of a project. */
    private final Map<Lane, Counted> recent = new HashMap<>();

    private record Counted(Backlog backlog, long nanos) {}

    BacklogLimiter(EventDispatchStore store) {
        this.store = store;
    }

    /** Forgets some of the subscriptions whose lane was full, so that they are counted again. */
    void beginRound() {
        long now = System.nanoTime();
        recent.values().removeIf(each -> now - each.nanos() >= RECENT_NANOS);
        Iterator<Counted> counted = full.values().iterator();
        for (int i = 0; i < RECOUNTED && counted.hasNext(); i++) {
            if (now - counted.next().nanos() < RECOUNT_NANOS) return;
            counted.remove();
        }
    }

    /** Returns the subscriptions whose lane is full. */
    Collection<Subscriber> full() {
        return full.keySet();
    }

    /**
     * Returns how many events each of these subscriptions may get now. Subscriptions whose lane or project is full, or
     * that were not counted, are missing.
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
        Map<String, Integer> sharingProject = new HashMap<>();
        for (Cursor each : cursors) {
            Backlog backlog = backlogs.get(each.name().subscriber());
            if (backlog == null) continue;
            sharing.merge(backlog.lane(), 1, Integer::sum);
            sharingProject.merge(backlog.lane().project(), 1, Integer::sum);
        }
        Map<String, Long> runsOfProjects = runsOfProjects(backlogs.values());
        Map<Cursor, Integer> allowed = new LinkedHashMap<>();
        for (Cursor each : cursors) {
            Backlog backlog = backlogs.get(each.name().subscriber());
            if (backlog == null) continue;
            String project = backlog.lane().project();
            long left = MAX_RUNS - backlog.runs();
            long leftOfProject = MAX_RUNS_OF_PROJECT - runsOfProjects.getOrDefault(project, 0L);
            if (left < MIN_FREE || leftOfProject < MIN_FREE)
                full.put(backlog.subscriber(), new Counted(backlog, System.nanoTime()));
            else {
                long share = Math.min(
                        left / sharing.getOrDefault(backlog.lane(), 1),
                        leftOfProject / sharingProject.getOrDefault(project, 1));
                allowed.put(each, (int) Math.max(1, share));
            }
        }
        return allowed;
    }

    /** Adds what was counted now, and returns the runs of each project in the lanes that are full or were counted. */
    private Map<String, Long> runsOfProjects(Collection<Backlog> counted) {
        Map<Lane, Long> lanes = new HashMap<>();
        long now = System.nanoTime();
        counted.forEach(each -> recent.put(each.lane(), new Counted(each, now)));
        Stream.concat(full.values().stream(), recent.values().stream())
                .map(Counted::backlog)
                .forEach(each -> lanes.put(each.lane(), each.runs()));
        Map<String, Long> runs = new HashMap<>();
        lanes.forEach((lane, number) -> runs.merge(lane.project(), number, Long::sum));
        return runs;
    }
}
