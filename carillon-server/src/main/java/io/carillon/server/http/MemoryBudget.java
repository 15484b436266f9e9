package io.carillon.server.http;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory that the bodies of all requests in progress may use together. Memory is reserved as bytes arrive, not when
 * a client announces them: an announced body that never comes reserves nothing.
 */
final class MemoryBudget {
    private static final long MIN_BYTES = 16 * 1024 * 1024;
    /** The part of the heap for bodies, as a divisor. */
    private static final long HEAP_DIVISOR = 8;

    private final long limit;
    private final AtomicLong used = new AtomicLong();

    MemoryBudget(long limit) {
        this.limit = limit;
    }

    /** Returns a budget of an eighth of the maximum heap. */
    static MemoryBudget ofHeap() {
        return new MemoryBudget(Math.max(MIN_BYTES, Runtime.getRuntime().maxMemory() / HEAP_DIVISOR));
    }

    long used() {
        return used.get();
    }

    Reservation reserveNothing() {
        return new Reservation();
    }

    /** The part of the budget that one request uses. Closing it returns that part. */
    final class Reservation implements AutoCloseable {
        private long reserved;

        /** Reserves more memory; throws a problem with status 503 if the budget does not have it. */
        synchronized void add(long bytes) {
            if (used.addAndGet(bytes) > limit) {
                used.addAndGet(-bytes);
                throw ErrorMapping.bodiesTooLarge();
            }
            reserved += bytes;
        }

        @Override
        public synchronized void close() {
            used.addAndGet(-reserved);
            reserved = 0;
        }
    }
}
