package io.carillon.engine;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How many runs to claim now: what the free slots can take, and, where runs are short, what was consumed lately, so that workers do not wait for the
 * database after each handful. Nothing is claimed that would not be started within a moment.
 */
final class Appetite {
    private static final long WINDOW_NANOS = 100_000_000L;
    private static final int MOST_UNWRITTEN = 5_000;
    private static final int NEWCOMERS = 5;

    private final Workers workers;
    private final ReadyQueue queue;
    private final Completer completer;
    private final EngineConfig.Slots slots;
    private final AtomicLong started = new AtomicLong();
    private long windowStart = System.nanoTime();
    private long startedAtWindowStart;
    private volatile int prefetch;

    Appetite(Workers workers, ReadyQueue queue, Completer completer, EngineConfig.Slots slots) {
        this.workers = workers;
        this.queue = queue;
        this.completer = completer;
        this.slots = slots;
    }

    /** In equal parts; what is left over goes to the first, who go behind the others for it. */
    static <K> Map<K, Integer> equally(int want, Set<K> due) {
        List<K> turns = List.copyOf(due);
        int more = due.isEmpty() ? 0 : want % due.size();
        Map<K, Integer> parts = new LinkedHashMap<>();
        if (want >= due.size()) turns.subList(more, due.size()).forEach(one -> parts.put(one, want / due.size()));
        turns.subList(0, more).forEach(one -> parts.put(one, want / due.size() + 1));
        return parts;
    }

    /** An attempt was started. */
    void consumed() {
        started.incrementAndGet();
    }

    /**
     * What a lane that has just got work may have when {@link #want} says that there is enough to do: that is the others' work. Nothing where slots are
     * seldom free: somewhere else it may start sooner.
     */
    int forNewcomers() {
        if (completer.backlog() > MOST_UNWRITTEN) return 0;
        int room = slots.concurrency() + 2 * prefetch - queue.size();
        return Math.max(0, Math.min(room, Math.min(prefetch, NEWCOMERS)));
    }

    /** What a node may claim and start at once that holds nothing but so many long runs. */
    int beside(int longRuns) {
        return Math.max(0, Math.min(slots.concurrency() - longRuns, slots.claim()));
    }

    /** Whether slots are kept free for runs of other queues and projects; not while nothing else may be claimed. */
    void keepForOthers(boolean keep) {
        queue.keepForOthers(keep);
    }

    /** Hands back what waits for a slot. */
    void handBackQueued() {
        queue.clear().forEach(completer::handBack);
    }

    /** What to ask for; only the claimer calls this. */
    int want() {
        long now = System.nanoTime();
        if (now - windowStart >= WINDOW_NANOS) {
            long inWindow = started.get() - startedAtWindowStart;
            long elapsed = now - windowStart;
            prefetch = (int) Math.min(slots.claim(), inWindow * WINDOW_NANOS / elapsed);
            startedAtWindowStart = started.get();
            windowStart = now;
        }
        if (completer.backlog() > MOST_UNWRITTEN) return 0;
        int queued = queue.size();
        int free = Math.max(0, slots.concurrency() - workers.busy());
        int room = free + prefetch - queued;
        // While there is enough to do, small claims are a waste: wait until a good part of the room is free.
        if (queued > 0 && room < prefetch / 2) return 0;
        return Math.max(0, Math.min(room, slots.claim()));
    }
}
