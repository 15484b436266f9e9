package io.carillon.internal.engine;

import io.carillon.internal.store.event.EventDispatchStore.Cursor;
import io.carillon.internal.store.event.EventDispatchStore.Name;
import io.carillon.internal.store.event.EventPosition;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The order in which subscriptions with a cursor are served. Projects take turns, and so do the subscriptions of each
 * project, so that one long backlog does not delay the others.
 */
final class DeliveryTurns {
    /** A part has at most this number of positions to read from, so that few lanes are counted before a delivery. */
    private static final int MAX_STARTS = 16;

    private static final int MAX_PART = 500;

    /** The number of the last turn of each subscription. */
    private final Map<Name, Long> served = new HashMap<>();

    private long turns;

    /** Returns the subscriptions in parts, those whose turn is next first. */
    List<List<Cursor>> order(List<Cursor> late) {
        served.keySet().retainAll(late.stream().map(Cursor::name).collect(Collectors.toSet()));
        Map<String, Long> projects = new HashMap<>();
        served.forEach((name, turn) -> projects.merge(name.project(), turn, Math::max));
        Map<String, Integer> numbers = new HashMap<>();
        Map<Cursor, Integer> numberInProject = new HashMap<>();
        List<Cursor> ordered = new ArrayList<>(late);
        ordered.sort(Comparator.comparing(each -> served.getOrDefault(each.name(), 0L)));
        for (Cursor each : ordered)
            numberInProject.put(each, numbers.merge(each.name().project(), 1, Integer::sum));
        ordered.sort(Comparator.<Cursor, Integer>comparing(numberInProject::get)
                .thenComparing(each -> projects.getOrDefault(each.name().project(), 0L)));
        return parts(ordered);
    }

    private static List<List<Cursor>> parts(List<Cursor> ordered) {
        List<List<Cursor>> parts = new ArrayList<>();
        List<Cursor> part = new ArrayList<>();
        Set<EventPosition> starts = new HashSet<>();
        for (Cursor each : ordered) {
            boolean full = part.size() == MAX_PART || (starts.size() == MAX_STARTS && !starts.contains(each.start()));
            if (full) {
                parts.add(part);
                part = new ArrayList<>();
                starts.clear();
            }
            starts.add(each.start());
            part.add(each);
        }
        if (!part.isEmpty()) parts.add(part);
        return parts;
    }

    /** Records that these subscriptions had a turn. */
    void served(Collection<Cursor> subscriptions) {
        turns++;
        subscriptions.forEach(each -> served.put(each.name(), turns));
    }
}
