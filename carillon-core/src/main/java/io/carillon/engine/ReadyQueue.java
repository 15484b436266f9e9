package io.carillon.engine;

import io.carillon.run.Lane;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Claimed attempts that wait for a slot: one queue for each lane, drained in turn, so that a long lane does not stand before a short one. It also keeps a
 * tenth of the slots from any one lane, for others that may come: unless its runs are short, and who comes waits a moment only, or nobody else is likely to
 * come, because this node has handlers for one queue only and met no other for a while.
 */
final class ReadyQueue {
    /** A run that takes this long is not short. */
    static final Duration SLOW = Duration.ofSeconds(1);

    /** A lane that met no other for this long is alone. */
    static final Duration ALONE = Duration.ofMinutes(1);

    private static final int MOST_LANES = 1_000;

    private static final class Stand {
        private final ArrayDeque<Held> waiting = new ArrayDeque<>();
        private int running;
        /** The run that ended last was short: nobody knows that of a lane that is new. */
        private boolean quick;
        /** When one was last seen that was not. */
        private long slowAt;
    }

    private final Map<Lane, Stand> lanes = new HashMap<>();
    private final Deque<Stand> turns = new ArrayDeque<>();
    /** Those that have their share of the slots or more. */
    private final Set<Stand> wide = new HashSet<>();

    private final int share;
    private final boolean shared;
    private final LongSupplier nanos;
    private Consumer<Lane> onRoom = lane -> {};
    private @Nullable Lane last;
    private long company;
    private int size;

    /** {@code shared}: this node has handlers for more than one queue. */
    ReadyQueue(int slots, boolean shared) {
        this(slots, shared, System::nanoTime);
    }

    ReadyQueue(int slots, boolean shared, LongSupplier nanos) {
        this.share = Math.max(1, slots * 9 / 10);
        this.shared = shared;
        this.nanos = nanos;
        this.company = nanos.getAsLong() - ALONE.toNanos();
    }

    /** Called when a lane that had all it may have can have more. */
    void onRoom(Consumer<Lane> action) {
        onRoom = action;
    }

    /** {@code ahead}: a lane of which nothing waits or runs here has its first turn before the others, however many they are. */
    synchronized void add(List<Held> claimed, boolean ahead) {
        for (Held held : claimed) {
            Stand stand = stand(held);
            if (stand.waiting.isEmpty()) {
                if (ahead && stand.running == 0) turns.addFirst(stand);
                else turns.addLast(stand);
            }
            stand.waiting.add(held);
            size++;
        }
    }

    /** The next one that may start, or null. */
    synchronized @Nullable Held poll() {
        for (int rest = turns.size(); rest > 0; rest--) {
            Stand stand = turns.remove();
            if (full(stand)) {
                turns.add(stand);
                continue;
            }
            Held next = stand.waiting.remove();
            if (!stand.waiting.isEmpty()) turns.add(stand);
            if (++stand.running >= share) wide.add(stand);
            size--;
            return next;
        }
        return null;
    }

    /** One that was polled has given back its slot. */
    void ended(Held held) {
        if (gaveBack(held)) onRoom.accept(held.attemptValue().lane());
    }

    private synchronized boolean gaveBack(Held held) {
        Stand stand = stand(held);
        boolean wasFull = full(stand);
        stand.quick = held.sinceStart().compareTo(SLOW) < 0;
        if (--stand.running < share) wide.remove(stand);
        if (lanes.size() > MOST_LANES && stand.running == 0 && stand.waiting.isEmpty())
            lanes.remove(held.attemptValue().lane());
        return wasFull;
    }

    /** A run of this lane runs, and is not short. */
    synchronized void slow(Lane lane) {
        Stand stand = lanes.get(lane);
        if (stand != null) stand.slowAt = nanos.getAsLong();
    }

    /** How many more of a lane that has work this node may hold. */
    synchronized int room(Lane lane) {
        met(lane);
        Stand stand = lanes.get(lane);
        if (stand == null) return alone() ? Integer.MAX_VALUE : share;
        return unbound(stand) ? Integer.MAX_VALUE : Math.max(0, share - stand.running - stand.waiting.size());
    }

    /** How many wait that may start. */
    synchronized int size() {
        int startable = size;
        for (Stand stand : wide) if (full(stand)) startable -= stand.waiting.size();
        return startable;
    }

    /** Takes everything out, for handing back. */
    synchronized List<Held> clear() {
        List<Held> all = new ArrayList<>();
        for (Stand stand : turns) {
            all.addAll(stand.waiting);
            stand.waiting.clear();
        }
        turns.clear();
        size = 0;
        return all;
    }

    private Stand stand(Held held) {
        Lane lane = held.attemptValue().lane();
        met(lane);
        return lanes.computeIfAbsent(lane, l -> {
            Stand stand = new Stand();
            stand.slowAt = nanos.getAsLong() - SLOW.toNanos();
            return stand;
        });
    }

    private void met(Lane lane) {
        if (lane.equals(last)) return;
        if (last != null) company = nanos.getAsLong();
        last = lane;
    }

    private boolean full(Stand stand) {
        return stand.running >= share && !unbound(stand);
    }

    private boolean unbound(Stand stand) {
        return (stand.quick && nanos.getAsLong() - stand.slowAt >= SLOW.toNanos()) || alone();
    }

    private boolean alone() {
        return !shared && nanos.getAsLong() - company >= ALONE.toNanos();
    }
}
