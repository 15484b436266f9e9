package io.carillon.internal.run;

import io.carillon.run.Enqueue;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A stored limit for the runs that share a key. In the cluster, at most {@code limit} runs have passed the gate and not
 * ended. With a period, at most {@code limit} runs start within any such period. Each run carries the limit that
 * applies to it.
 *
 * @param period the period of a rate limit; null if the gate limits concurrency or order
 */
public record Gate(
        Kind kind, String key, int limit, @Nullable Duration period) {
    /** The kinds of gates. */
    public enum Kind {
        /**
         * At most {@code limit} runs of a key at a time, the earliest due first. A run that waits for a retry
         * does not count.
         */
        CONCURRENCY,
        /**
         * The runs of a key one after the other, in the order in which they were stored. The next run passes after the
         * previous run has ended.
         */
        FIFO,
        /** At most {@code limit} starts of a key within any period, the earliest due first. Each attempt is a start. */
        RATE,
        /** The runs of one schedule, by its overlap policy. */
        OVERLAP;

        /** Returns the value used in SQL and logs. */
        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Returns the gate that enforces the limit of a key. */
    public static Gate of(Enqueue.KeyLimit keyLimit) {
        return new Gate(Kind.valueOf(keyLimit.kind().name()), keyLimit.key(), keyLimit.limit(), keyLimit.period());
    }

    /** Returns the name of this gate in its project. A rate key has one gate for each period. */
    public String name() {
        return kind.text() + ":" + (period == null ? "" : period.toMillis() + ":") + key;
    }
}
