package io.carillon.server.http;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * Limits how many requests of a project execute at the same time while other projects send requests too. The others of
 * the project wait for their turn. Otherwise a project that keeps all processors busy, or all connections of the pool,
 * makes the requests of other projects wait behind dozens of its own. A project alone on a server has no such limit.
 *
 * <p>Searches take several turns, and a project may search for half of the time: a processor that searches all the time
 * makes every other request wait for it.
 */
final class RequestTurns {
    /** The time after its last request in which a project counts as one that sends requests. */
    private static final long ACTIVE_NANOS = Duration.ofSeconds(1).toNanos();

    private static final long CLEANUP_NANOS = Duration.ofMillis(100).toNanos();
    private static final Duration MAX_WAIT = Duration.ofSeconds(10);
    /** How long a project may search at once, before it searches for half of the time. */
    private static final long SEARCH_BURST_NANOS = Duration.ofMillis(100).toNanos();

    private static final long LONGEST_SEARCH_PAUSE_NANOS = Duration.ofSeconds(1).toNanos();
    private static final int SEARCH_TURNS = 2;

    /**
     * The number of turns that the projects have at the same time, if there are several. More threads than this
     * would wait for a processor, or for one of the 20 connections that the pool of requests has by default.
     */
    static final int TOGETHER =
            2 * Math.min(10, Math.max(2, Runtime.getRuntime().availableProcessors()));

    /** An operation of admins of the server that waits for handlers most of the time. */
    static final Set<String> WITHOUT_TURN = Set.of("POST /v1/run-due");

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, ProjectTurns> projects = new HashMap<>();
    private final int together;
    private final long maxWaitNanos;
    private final LongSupplier nanoTime;
    private long cleanedNanos;

    private final class ProjectTurns {
        /** A condition for each request that waits. Only the first one is signalled: it is the next to be executed. */
        private final Deque<Condition> waiting = new ArrayDeque<>();
        /** The turns of the requests that are executed. */
        private int executing;

        private long lastNanos;
        /**
         * The time until which searches are delayed, apart from a burst: each earlier one adds twice the time that it
         * took.
         */
        private long searchesAllowedNanos = nanoTime.getAsLong();

        private boolean isActive(long now) {
            return executing > 0 || !waiting.isEmpty() || now - lastNanos < ACTIVE_NANOS;
        }

        private void wakeFirst() {
            Condition first = waiting.peekFirst();
            if (first != null) first.signal();
        }

        /** Returns the time until the project may search again. */
        private long searchPause(long now) {
            return isAlone() ? 0 : Math.max(0, searchesAllowedNanos - now - 2 * SEARCH_BURST_NANOS);
        }

        /** Adds the time of a search. It counts once for all searches that the project may execute together. */
        private void addSearch(long began, long ended) {
            long start = searchesAllowedNanos - began > 0 ? searchesAllowedNanos : began;
            long paid = start + 2 * (ended - began) / Math.max(1, limit() / SEARCH_TURNS);
            long latest = ended + LONGEST_SEARCH_PAUSE_NANOS + 2 * SEARCH_BURST_NANOS;
            searchesAllowedNanos = latest - paid < 0 ? latest : paid;
        }
    }

    /**
     * Creates turns.
     *
     * @param together the number of turns that the projects have at the same time; each one has at least one
     */
    RequestTurns(int together, Duration maxWait, LongSupplier nanoTime) {
        this.together = together;
        this.maxWaitNanos = maxWait.toNanos();
        this.nanoTime = nanoTime;
        this.cleanedNanos = nanoTime.getAsLong();
    }

    RequestTurns() {
        this(TOGETHER, MAX_WAIT, System::nanoTime);
    }

    /**
     * Returns how many turns a request takes. A search for planned instants keeps a processor busy, other requests wait
     * for the database most of the time; so it takes two, and a project has at most half of the processors for
     * searches.
     */
    static int turnsOf(Route route) {
        if (WITHOUT_TURN.contains(route.method() + " " + route.path())) return 0;
        return route.path().startsWith("/v1/schedules") || route.path().equals("/v1/timeline") ? SEARCH_TURNS : 1;
    }

    /**
     * Waits until the project may execute one more request. Requests of a project get their turns in the order in which
     * they came. A request that takes more turns than the project may have is executed alone.
     *
     * @throws Problem with status 503 after a time limit
     */
    RequestPermits.Permit take(String project, int turns) {
        if (turns == 0) return () -> {};
        lock.lock();
        try {
            long began = nanoTime.getAsLong();
            cleanUp(began);
            ProjectTurns own = projects.computeIfAbsent(project, name -> new ProjectTurns());
            own.lastNanos = began;
            Condition ticket = lock.newCondition();
            own.waiting.addLast(ticket);
            try {
                awaitTurn(own, ticket, turns, began);
                own.executing += turns;
            } catch (InterruptedException closing) {
                Thread.currentThread().interrupt();
                throw ErrorMapping.noTurn();
            } finally {
                own.waiting.remove(ticket);
                own.wakeFirst();
            }
            long granted = nanoTime.getAsLong();
            return () -> release(own, turns, granted);
        } finally {
            lock.unlock();
        }
    }

    /** Another project may become inactive without a signal, which changes the limit: so the first request polls. */
    private void awaitTurn(ProjectTurns own, Condition ticket, int turns, long began) throws InterruptedException {
        while (true) {
            long now = nanoTime.getAsLong();
            long pause = turns > 1 ? own.searchPause(now) : 0;
            boolean first = own.waiting.peekFirst() == ticket;
            if (first && pause == 0 && (own.executing == 0 || own.executing + turns <= limit())) return;
            long left = maxWaitNanos - (now - began);
            if (left <= 0) throw ErrorMapping.noTurn();
            long poll = pause > 0 ? Math.min(pause, CLEANUP_NANOS) : CLEANUP_NANOS;
            long unused = ticket.awaitNanos(first ? Math.min(left, poll) : left);
            cleanUp(nanoTime.getAsLong());
        }
    }

    private void release(ProjectTurns own, int turns, long granted) {
        lock.lock();
        try {
            long now = nanoTime.getAsLong();
            own.executing -= turns;
            own.lastNanos = now;
            if (turns > 1) own.addSearch(granted, now);
            own.wakeFirst();
        } finally {
            lock.unlock();
        }
    }

    private boolean isAlone() {
        return projects.size() <= 1;
    }

    private long limit() {
        return isAlone() ? Long.MAX_VALUE : Math.max(1, together / projects.size());
    }

    /** Removes the projects that send no requests any more. */
    private void cleanUp(long now) {
        if (now - cleanedNanos < CLEANUP_NANOS) return;
        cleanedNanos = now;
        projects.values().removeIf(project -> !project.isActive(now));
    }
}
