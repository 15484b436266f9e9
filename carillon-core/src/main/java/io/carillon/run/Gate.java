package io.carillon.run;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.value.Names;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What a run waits behind: of the runs that share a gate at most {@code limit} are through it and have not ended, in the whole cluster; where {@code per} is
 * set, at most so many start in any stretch of that time. Each run brings the limit under which it passes.
 */
public record Gate(
        Kind kind, String key, int limit, @Nullable Duration per) {
    private static final Duration SHORTEST = Duration.ofSeconds(1);
    private static final Duration LONGEST = Duration.ofDays(1);
    private static final int MOST = 1_000;

    /** What a gate is for. */
    public enum Kind {
        /** So many of a key at a time, the earliest due first. A run that waits for its next attempt makes room meanwhile. */
        CONCURRENCY,
        /** One of a key after the other, in the order they were stored; the next one passes when the one before has ended for good. */
        FIFO,
        /** So many starts of a key in any stretch of time, the earliest due first; each attempt is a start. */
        RATE,
        /** The runs of one schedule, by its overlap policy. */
        OVERLAP;

        /** The word in SQL and logs. */
        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    public Gate {
        Names.checkKey(kind.text() + " key", key);
        if (limit < 1 || limit > MOST)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "The limit %d of the key '%s' is outside 1..%d. Choose one inside.".formatted(limit, key, MOST));
        if (per != null && (per.compareTo(SHORTEST) < 0 || per.compareTo(LONGEST) > 0))
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "The time %s of the rate key '%s' is outside one second and one day. Choose one inside."
                            .formatted(per, key));
    }

    static Gate concurrency(String key, int limit) {
        return new Gate(Kind.CONCURRENCY, key, limit, null);
    }

    static Gate fifo(String key) {
        return new Gate(Kind.FIFO, key, 1, null);
    }

    static Gate rate(String key, int starts, Duration in) {
        return new Gate(Kind.RATE, key, starts, in);
    }

    /** How it is called inside its project: a key has a gate for each stretch of time it is limited in. */
    public String name() {
        return kind.text() + ":" + (per == null ? "" : per.toMillis() + ":") + key;
    }
}
