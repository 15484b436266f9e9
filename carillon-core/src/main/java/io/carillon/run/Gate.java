package io.carillon.run;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.value.Names;
import java.util.Locale;

/**
 * What a run waits behind: of the runs that share a gate at most {@code limit} are through it and have not ended, in the whole cluster. Each run brings the
 * limit under which it passes.
 */
public record Gate(Kind kind, String key, int limit) {
    private static final int MOST = 1_000;

    /** What a gate is for. */
    public enum Kind {
        /** So many of a key at a time, the earliest due first. A run that waits for its next attempt makes room meanwhile. */
        CONCURRENCY,
        /** One of a key after the other, in the order they were stored; the next one passes when the one before has ended for good. */
        FIFO,
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
    }

    static Gate concurrency(String key, int limit) {
        return new Gate(Kind.CONCURRENCY, key, limit);
    }

    static Gate fifo(String key) {
        return new Gate(Kind.FIFO, key, 1);
    }

    /** How it is called inside its project. */
    public String name() {
        return kind.text() + ":" + key;
    }
}
