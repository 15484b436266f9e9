package io.carillon.value;

import java.security.SecureRandom;
import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** Makes time-ordered UUIDs (version 7). Within one process they only grow; between processes they are an order only if they are made by one clock. */
public final class Uuid7 {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Sequence BY_WALL_CLOCK = new Sequence(WallClock::millis);
    private static final AtomicLong COUNTER = new AtomicLong();

    private Uuid7() {}

    /** Returns a new id by the machine's clock: for what no list is ordered by. */
    public static UUID next() {
        return BY_WALL_CLOCK.next();
    }

    /** Returns a new id that carries this time. Of the same millisecond, later calls return greater ids, save one in some thousands. */
    public static UUID at(Instant time) {
        return of(time.toEpochMilli() << 12 | (COUNTER.getAndIncrement() & 0xFFF));
    }

    /** Milliseconds in the upper 52 bits, a counter in the lower 12. */
    private static UUID of(long stamp) {
        long high = (stamp >>> 12 << 16) | 0x7000L | (stamp & 0xFFF);
        long low = (Entropy.next() & 0x3FFF_FFFF_FFFF_FFFFL) | 0x8000_0000_0000_0000L;
        return new UUID(high, low);
    }

    /** Makes ids by one clock, each greater than the one before. When the clock is set back by more than a second, the ids follow it. Thread-safe. */
    public static final class Sequence {
        private static final long SET_BACK_MILLIS = 1_000;

        private final LongSupplier clock;
        private final AtomicLong last = new AtomicLong();

        private Sequence(LongSupplier millis) {
            clock = millis;
        }

        /** Ids by the database's clock, as far as this process knows it. */
        public Sequence(DatabaseClock database) {
            this(() -> database.now().toEpochMilli());
        }

        /** Returns a new id. Bursts of more than 4,096 in a millisecond spill into the next one. */
        public UUID next() {
            long floor = clock.getAsLong() << 12;
            long stamp = last.updateAndGet(
                    before -> before - floor > SET_BACK_MILLIS << 12 ? floor : Math.max(before + 1, floor));
            return of(stamp);
        }
    }

    /** A secure random stream for each thread: one shared source is a lock that every enqueue would meet. */
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
