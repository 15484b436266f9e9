package io.carillon.engine;

import io.carillon.run.Lane;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/** Claimed attempts that wait for a slot: one queue for each lane, drained in turn, so that a long lane does not stand before a short one. */
final class ReadyQueue {
    private final Map<Lane, ArrayDeque<Held>> lanes = new HashMap<>();
    private final Queue<Lane> turns = new ArrayDeque<>();
    private int size;

    synchronized void add(List<Held> claimed) {
        for (Held held : claimed) {
            Lane lane = held.attemptValue().lane();
            ArrayDeque<Held> queue = lanes.computeIfAbsent(lane, l -> new ArrayDeque<>());
            if (queue.isEmpty()) turns.add(lane);
            queue.add(held);
            size++;
        }
    }

    /** The next one, or null. */
    synchronized @Nullable Held poll() {
        Lane lane = turns.poll();
        if (lane == null) return null;
        ArrayDeque<Held> queue = lanes.get(lane);
        Held next = queue == null ? null : queue.poll();
        if (queue != null && !queue.isEmpty()) turns.add(lane);
        else lanes.remove(lane);
        if (next != null) size--;
        return next;
    }

    synchronized int size() {
        return size;
    }

    /** Takes everything out, for handing back. */
    synchronized List<Held> clear() {
        List<Held> all = new ArrayList<>();
        for (Held next = poll(); next != null; next = poll()) all.add(next);
        return all;
    }
}
