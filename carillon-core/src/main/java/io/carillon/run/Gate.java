package io.carillon.run;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.Names;
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
    private static final Duration MIN_PERIOD = Duration.ofSeconds(1);
    private static final Duration MAX_PERIOD = Duration.ofDays(1);
    private static final int MAX_LIMIT = 1_000;

    /** The kinds of gates. */
    public enum Kind {
        /**
         * At most {@code limit} runs of a key at a time, the earliest due first. A run that waits for a retry does not
         * count.
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

    public Gate {
        Names.checkKey(kind.text() + " key", key);
        if (limit < 1 || limit > MAX_LIMIT)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "limit %d of key '%s' is not allowed: it must be between 1 and %d."
                            .formatted(limit, key, MAX_LIMIT));
        if (period != null && (period.compareTo(MIN_PERIOD) < 0 || period.compareTo(MAX_PERIOD) > 0))
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "period %s of rate key '%s' is not allowed: it must be between 1 second and 1 day."
                            .formatted(period, key));
    }

    static Gate concurrency(String key, int limit) {
        return new Gate(Kind.CONCURRENCY, key, limit, null);
    }

    static Gate fifo(String key) {
        return new Gate(Kind.FIFO, key, 1, null);
    }

    static Gate rate(String key, int starts, Duration period) {
        return new Gate(Kind.RATE, key, starts, period);
    }

    /** Returns the name of this gate in its project. A rate key has one gate for each period. */
    public String name() {
        return kind.text() + ":" + (period == null ? "" : period.toMillis() + ":") + key;
    }
}
