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
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Claimed attempts that wait for a slot: projects take turns, and within a project its lanes, so that a long lane does not stand before a short one and more
 * queues get a project no more slots. It also keeps a tenth of the slots from any one lane, and from any one project, for others that may come: unless its
 * runs are short, and who comes waits a moment only, or nobody else is likely to come, because this node has handlers for one queue only and met no other
 * for a while, or met no other project for a while.
 */
final class ReadyQueue {
    /** A run that takes this long is not short. */
    static final Duration SLOW = Duration.ofSeconds(1);

    /** A lane that met no other for this long is alone. */
    static final Duration ALONE = Duration.ofMinutes(1);

    /** A lane of which something could not soon start is not asked for so long. */
    static final Duration PAUSE = Duration.ofMillis(250);

    private static final int MOST_LANES = 1_000;

    private static final class Stand {
        private final Group group;
        private final ArrayDeque<Held> waiting = new ArrayDeque<>();
        /** Those that also need a slot for a transaction. */
        private final ArrayDeque<Held> transactional = new ArrayDeque<>();

        private int running;
        private int transactions;
        /** Something came that needed a transaction: so will what comes next, unless the lane is mixed. */
        private boolean joins;
        /** Something came that needed none. */
        private boolean mixed;
        /** Until when a mixed lane has no room, because something of it went back. */
        private @Nullable Long pausedUntil;

        boolean isEmpty() {
            return waiting.isEmpty() && transactional.isEmpty();
        }
        /** The run that ended last was short: nobody knows that of a lane that is new. */
        private boolean quick;
        /** When one was last seen that was not. */
        private long slowAt;

        Stand(Group group, long slowAt) {
            this.group = group;
            this.slowAt = slowAt;
        }
    }

    /** The lanes of one project. */
    private static final class Group {
        /** Its lanes in which something waits, in the order of their turns. */
        private final Deque<Stand> turns = new ArrayDeque<>();

        private int waiting;
        private int running;
        private int lanes;
    }

    private final Map<Lane, Stand> lanes = new HashMap<>();
    private final Map<String, Group> groups = new HashMap<>();
    /** Projects of which something waits, in the order of their turns. */
    private final Deque<Group> turns = new ArrayDeque<>();
    /** Those that have their share of the slots or more. */
    private final Set<Stand> wide = new HashSet<>();

    private final Set<Group> wideGroups = new HashSet<>();

    private final int share;
    private final boolean shared;
    private Predicate<Held> joins = held -> false;
    private int mostTransactions = Integer.MAX_VALUE;
    /** How many transactional attempts run, and how many wait. */
    private int transactions;

    private int waitingTransactions;
    private final LongSupplier nanos;
    private Consumer<Lane> onRoom = lane -> {};
    private @Nullable Lane last;
    private long company;
    /** When another project was last met. */
    private long otherProject;

    private int size;
    private boolean keeping = true;
    private boolean closed;

    /** {@code shared}: this node has handlers for more than one queue. */
    ReadyQueue(int slots, boolean shared) {
        this(slots, shared, System::nanoTime);
    }

    ReadyQueue(int slots, boolean shared, LongSupplier nanos) {
        this.share = Math.max(1, slots * 9 / 10);
        this.shared = shared;
        this.nanos = nanos;
        this.company = nanos.getAsLong() - ALONE.toNanos();
        this.otherProject = company;
    }

    /**
     * At most so many attempts of transactional handlers run at a time: what waits for a connection takes no slot from others. So many more may wait here;
     * the rest is not taken, or goes back. To be said before the start.
     */
    void transactional(Predicate<Held> transactional, int most) {
        joins = transactional;
        mostTransactions = most;
    }

    /** Whether a tenth of the slots is kept for others that may come. */
    synchronized void keepForOthers(boolean keep) {
        keeping = keep;
    }

    /** Called when a lane that had all it may have can have more. */
    void onRoom(Consumer<Lane> action) {
        onRoom = action;
    }

    /**
     * Returns those that cannot soon start; after {@link #close} all of them. {@code ahead}: a lane of which nothing waits or runs here has its first turn
     * before the others of its project, however many they are; and so has its project before the others, if nothing of it waits or runs here.
     */
    synchronized List<Held> add(List<Held> claimed, boolean ahead) {
        if (closed) return List.copyOf(claimed);
        List<Held> tooMany = new ArrayList<>();
        for (Held held : claimed) {
            boolean transactional = joins.test(held);
            Stand stand = stand(held);
            if (transactional) stand.joins = true;
            else stand.mixed = true;
            if (transactional && waitingTransactions + transactions >= 2L * mostTransactions) {
                stand.pausedUntil = nanos.getAsLong() + PAUSE.toNanos();
                tooMany.add(held);
                continue;
            }
            Group group = stand.group;
            if (stand.isEmpty()) {
                if (group.turns.isEmpty()) {
                    if (ahead && group.running == 0) turns.addFirst(group);
                    else turns.addLast(group);
                }
                if (ahead && stand.running == 0) group.turns.addFirst(stand);
                else group.turns.addLast(stand);
            }
            (transactional ? stand.transactional : stand.waiting).add(held);
            group.waiting++;
            if (transactional) {
                held.markTransactional();
                waitingTransactions++;
            }
            size++;
        }
        return tooMany;
    }

    /** The next one that may start, or null. */
    synchronized @Nullable Held poll() {
        for (int rest = turns.size(); rest > 0; rest--) {
            Group group = turns.remove();
            Held next = poll(group);
            if (!group.turns.isEmpty()) turns.add(group);
            if (next != null) return next;
        }
        return null;
    }

    private @Nullable Held poll(Group group) {
        for (int rest = group.turns.size(); rest > 0; rest--) {
            Stand stand = group.turns.remove();
            boolean transactional = !stand.transactional.isEmpty() && transactions < mostTransactions;
            if (full(stand) || (stand.waiting.isEmpty() && !transactional)) {
                group.turns.add(stand);
                continue;
            }
            // First what may need memory: if there is none, nothing has been taken.
            if (stand.running + 1 >= share) wide.add(stand);
            if (group.running + 1 >= share) wideGroups.add(group);
            Held next = (transactional ? stand.transactional : stand.waiting).remove();
            if (transactional) {
                waitingTransactions--;
                transactions++;
                stand.transactions++;
            }
            stand.running++;
            group.running++;
            group.waiting--;
            size--;
            if (!stand.isEmpty()) group.turns.add(stand);
            return next;
        }
        return null;
    }

    /** One that was polled has given back its slot. */
    void ended(Held held) {
        if (gaveBack(held)) onRoom.accept(held.attemptValue().lane());
    }

    private synchronized boolean gaveBack(Held held) {
        Stand known = lanes.get(held.attemptValue().lane());
        Stand stand = known == null ? stand(held) : known;
        boolean wasFull = full(stand);
        if (held.transactional()) {
            wasFull |= transactions >= mostTransactions;
            transactions--;
            stand.transactions--;
        }
        if (--stand.running < share) wide.remove(stand);
        if (--stand.group.running < share) wideGroups.remove(stand.group);
        stand.quick = held.sinceStart().compareTo(SLOW) < 0;
        met(held.attemptValue().lane());
        if (lanes.size() > MOST_LANES && stand.running == 0 && stand.isEmpty()) {
            Lane lane = held.attemptValue().lane();
            lanes.remove(lane);
            if (--stand.group.lanes == 0) groups.remove(lane.project());
        }
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
        int room = unboundRoom(lane, stand);
        if (stand == null) return room;
        boolean all = stand.joins && !stand.mixed;
        if (!all && stand.pausedUntil != null) {
            if (stand.pausedUntil - nanos.getAsLong() > 0) return 0;
            stand.pausedUntil = null;
        }
        if (!all && stand.transactions == 0 && stand.transactional.isEmpty()) return room;
        return Math.max(0, (int) Math.min(room, 2L * mostTransactions - transactions - waitingTransactions));
    }

    /** The same without regard to transactions. */
    private int unboundRoom(Lane lane, @Nullable Stand stand) {
        int left = left(groups.get(lane.project()));
        if (stand == null) return alone() ? left : Math.min(left, share);
        if (quick(stand)) return Integer.MAX_VALUE;
        int held = stand.running + stand.waiting.size() + stand.transactional.size();
        return Math.max(0, alone() ? left : Math.min(left, share - held));
    }

    /** How many more of a project this node may hold, if its runs are not short. */
    private int left(@Nullable Group group) {
        if (aloneOfAllProjects()) return Integer.MAX_VALUE;
        return group == null ? share : Math.max(0, share - group.running - group.waiting);
    }

    /** How many wait that may start. */
    synchronized int size() {
        int startable = size;
        int free = Math.max(0, mostTransactions - transactions);
        if (waitingTransactions > free) startable -= waitingTransactions - free;
        for (Stand stand : wide) if (full(stand)) startable -= stand.waiting.size();
        if (!aloneOfAllProjects())
            for (Group group : wideGroups)
                for (Stand stand : group.turns)
                    if (!wide.contains(stand) && full(stand)) startable -= stand.waiting.size();
        return Math.max(0, startable);
    }

    /** Takes everything out, for handing back. */
    synchronized List<Held> clear() {
        List<Held> all = new ArrayList<>();
        for (Group group : turns) {
            for (Stand stand : group.turns) {
                all.addAll(stand.waiting);
                all.addAll(stand.transactional);
                stand.waiting.clear();
                stand.transactional.clear();
            }
            group.turns.clear();
            group.waiting = 0;
        }
        turns.clear();
        waitingTransactions = 0;
        size = 0;
        return all;
    }

    /** Rejects all attempts from now on, because a claim under way may be answered late. Returns those that wait. */
    synchronized List<Held> close() {
        closed = true;
        return clear();
    }

    private Stand stand(Held held) {
        Lane lane = held.attemptValue().lane();
        met(lane);
        return lanes.computeIfAbsent(lane, l -> {
            Group group = groups.computeIfAbsent(lane.project(), project -> new Group());
            group.lanes++;
            return new Stand(group, nanos.getAsLong() - SLOW.toNanos());
        });
    }

    private void met(Lane lane) {
        Lane before = last;
        if (lane.equals(before)) return;
        last = lane;
        if (before == null) return;
        company = nanos.getAsLong();
        if (!lane.project().equals(before.project())) otherProject = company;
    }

    private boolean full(Stand stand) {
        if (!keeping || quick(stand)) return false;
        return (stand.running >= share && !alone()) || (stand.group.running >= share && !aloneOfAllProjects());
    }

    private boolean quick(Stand stand) {
        return stand.quick && nanos.getAsLong() - stand.slowAt >= SLOW.toNanos();
    }

    private boolean aloneOfAllProjects() {
        return nanos.getAsLong() - otherProject >= ALONE.toNanos();
    }

    private boolean alone() {
        return !shared && nanos.getAsLong() - company >= ALONE.toNanos();
    }
}
