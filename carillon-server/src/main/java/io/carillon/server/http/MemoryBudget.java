package io.carillon.server.http;

import java.util.HashMap;
import java.util.Map;

/**
 * The memory that the bodies of all requests in progress, and large responses, may use together. Memory for a body is
 * reserved as bytes arrive, not when a client announces them: an announced body that never comes reserves nothing. A
 * project may use half of what the
 * other projects leave, so that no project can use up the memory of all. Callers without a key count as one project.
 */
final class MemoryBudget {
    private static final long MIN_BYTES = 16 * 1024 * 1024;
    /** The part of the heap for bodies, as a divisor. */
    private static final long HEAP_DIVISOR = 8;

    private final long limit;
    /** Projects that use nothing are not stored. */
    private final Map<String, Long> usedByProject = new HashMap<>();

    private long used;

    MemoryBudget(long limit) {
        this.limit = limit;
    }

    /** Returns an eighth of the maximum heap. */
    static long partOfHeap() {
        return Math.max(MIN_BYTES, Runtime.getRuntime().maxMemory() / HEAP_DIVISOR);
    }

    synchronized long used() {
        return used;
    }

    Reservation reserveNothing(String project) {
        return new Reservation(project);
    }

    private synchronized boolean tryReserve(String project, long bytes) {
        if (bytes == 0) return true;
        long own = usedByProject.getOrDefault(project, 0L);
        long leftByOthers = limit - (used - own);
        if (own + bytes > leftByOthers / 2) return false;
        usedByProject.put(project, own + bytes);
        used += bytes;
        return true;
    }

    private synchronized void giveBack(String project, long bytes) {
        usedByProject.computeIfPresent(project, (name, own) -> own == bytes ? null : own - bytes);
        used -= bytes;
    }

    /** The part of the budget that one request uses. Closing it returns that part. */
    final class Reservation implements AutoCloseable {
        private final String project;
        private long reserved;

        private Reservation(String project) {
            this.project = project;
        }

        /** Reserves more memory; throws a problem with status 503 if the share of the project does not have it. */
        synchronized void add(long bytes) {
            if (!tryReserve(project, bytes)) throw ErrorMapping.noMemory();
            reserved += bytes;
        }

        /**
         * Changes the reservation to so many bytes; throws a problem with status 503 if the share does not have them.
         */
        synchronized void resize(long bytes) {
            if (bytes > reserved) add(bytes - reserved);
            else shrink(bytes);
        }

        /** Returns what is reserved beyond so many bytes. */
        synchronized void shrink(long bytes) {
            long surplus = reserved - bytes;
            if (surplus <= 0) return;
            giveBack(project, surplus);
            reserved = bytes;
        }

        @Override
        public synchronized void close() {
            shrink(0);
        }
    }
}
