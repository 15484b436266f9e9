package io.carillon.internal.value;

import java.security.SecureRandom;
import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Generates time-ordered UUIDs (version 7). Within one process each id is greater than the last. Between processes the
 * order holds only if they use the same clock.
 */
public final class Uuid7 {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Sequence BY_WALL_CLOCK = new Sequence(WallClock::millis);
    private static final AtomicLong COUNTER = new AtomicLong();

    private Uuid7() {}

    /** Returns a new id with the time of the system clock. For ids that no list is ordered by. */
    public static UUID next() {
        return BY_WALL_CLOCK.next();
    }

    /**
     * Returns a new id with this time. Within one millisecond, later calls return greater ids, except once
     * in 4,096 calls.
     */
    public static UUID at(Instant time) {
        return of(time.toEpochMilli() << 12 | (COUNTER.getAndIncrement() & 0xFFF));
    }

    /** Returns an id from a stamp with milliseconds in the upper 52 bits and a counter in the lower 12. */
    private static UUID of(long stamp) {
        long high = (stamp >>> 12 << 16) | 0x7000L | (stamp & 0xFFF);
        long low = (Entropy.next() & 0x3FFF_FFFF_FFFF_FFFFL) | 0x8000_0000_0000_0000L;
        return new UUID(high, low);
    }

    /**
     * Generates ids from one clock, each greater than the last. If the clock is set back by more than a second, the ids
     * follow it. Thread-safe.
     */
    public static final class Sequence {
        private static final long SET_BACK_MILLIS = 1_000;

        private final LongSupplier clock;
        private final AtomicLong last = new AtomicLong();

        private Sequence(LongSupplier millis) {
            clock = millis;
        }

        /** Creates a sequence with the estimated time of the database clock. */
        public Sequence(DatabaseClock database) {
            this(() -> database.now().toEpochMilli());
        }

        /** Returns a new id. More than 4,096 ids in one millisecond use the time of the next one. */
        public UUID next() {
            long floor = clock.getAsLong() << 12;
            long stamp = last.updateAndGet(
                    before -> before - floor > SET_BACK_MILLIS << 12 ? floor : Math.max(before + 1, floor));
            return of(stamp);
        }
    }

    /** Secure random numbers, generated per thread. A shared generator would be a lock that every enqueue needs. */
    private static final class Entropy {
        private static final int BYTES = 4096;
        private static final ThreadLocal<Entropy> LOCAL = ThreadLocal.withInitial(Entropy::new);
        private final byte[] pool = new byte[BYTES];
        private int used = BYTES;

        static long next() {
            return LOCAL.get().take();
        }

        private long take() {
            if (used == BYTES) {
                RANDOM.nextBytes(pool);
                used = 0;
            }
            long value = 0;
            for (int i = 0; i < Long.BYTES; i++) value = value << 8 | (pool[used++] & 0xFF);
            return value;
        }
    }
}
