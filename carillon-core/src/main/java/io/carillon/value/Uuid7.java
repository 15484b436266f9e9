package io.carillon.value;

import java.security.SecureRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/** Makes time-ordered UUIDs (version 7). Within one process they only grow; between processes they are never an order. */
public final class Uuid7 {
    private static final SecureRandom RANDOM = new SecureRandom();
    /** Milliseconds in the upper 52 bits, a counter in the lower 12: bursts spill into the next millisecond. */
    private static final AtomicLong LAST = new AtomicLong();

    private Uuid7() {}

    /** A new id. */
    public static UUID next() {
        long floor = WallClock.millis() << 12;
        long stamp = LAST.updateAndGet(last -> Math.max(last + 1, floor));
        long high = (stamp >>> 12 << 16) | 0x7000L | (stamp & 0xFFF);
        long low = (Entropy.next() & 0x3FFF_FFFF_FFFF_FFFFL) | 0x8000_0000_0000_0000L;
        return new UUID(high, low);
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
