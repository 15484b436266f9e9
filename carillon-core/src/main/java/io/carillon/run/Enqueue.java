package io.carillon.run;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.Names;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Options for storing a run: due time, priority, unique key, queue and gate. Immutable; each method returns a changed
 * copy.
 *
 * @param priority null for the priority of the handler
 * @param uniqueKey null if the run has no unique key
 * @param queue null for the queue of the handler
 * @param gate null if no gate limits the run
 * @param keyWindow how long the unique key is held at least; null if it is held until the run ends
 */
public record Enqueue(
        Due due,
        @Nullable Priority priority,
        @Nullable String uniqueKey,
        @Nullable String queue,
        @Nullable Gate gate,
        @Nullable Duration keyWindow) {
    private static final Duration MAX_DELAY = Duration.ofDays(36_500);
    private static final Duration MIN_WINDOW = Duration.ofSeconds(1);
    private static final Duration MAX_WINDOW = Duration.ofDays(366);
    private static final Instant MAX_INSTANT = Instant.parse("9999-12-31T23:59:59Z");

    /** When a run is due: after a delay, measured by the database clock, or at a given instant. */
    public sealed interface Due {
        record After(Duration delay) implements Due {}

        record At(Instant instant) implements Due {}
    }

    /** Returns options for a run that is due immediately. */
    public static Enqueue now() {
        return after(Duration.ZERO);
    }

    /** Returns options for a run that is due after a delay of at most 100 years, measured by the database clock. */
    public static Enqueue after(Duration delay) {
        if (delay.isNegative() || delay.compareTo(MAX_DELAY) > 0)
            throw invalid("delay must be between 0 and 100 years (was %s).".formatted(delay));
        return new Enqueue(new Due.After(delay), null, null, null, null, null);
    }

    /** Returns options for a run that is due at an instant. A past instant means immediately. */
    public static Enqueue at(Instant instant) {
        if (instant.isAfter(MAX_INSTANT) || instant.isBefore(Instant.EPOCH))
            throw invalid("instant must be between the years 1970 and 9999 (was %s).".formatted(instant));
        return new Enqueue(new Due.At(instant), null, null, null, null, null);
    }

    /** Sets the priority of the run. Default: the priority of the handler. */
    public Enqueue priority(Priority priority) {
        return new Enqueue(due, priority, uniqueKey, queue, gate, keyWindow);
    }

    /**
     * Sets a unique key. At most one run of the handler with this key exists at a time, waiting or running, in any
     * queue. Another enqueue returns {@link EnqueueResult.Duplicate}.
     */
    public Enqueue uniqueKey(String key) {
        return new Enqueue(due, priority, Names.checkKey("unique key", key), queue, gate, null);
    }

    /**
     * Like {@link #uniqueKey(String)}, but the key is also held for a minimum time after the enqueue, even if the run
     * ends earlier. Another enqueue with a window returns {@link EnqueueResult.Duplicate} with the id of this run.
     *
     * @param window between 1 second and 366 days
     */
    public Enqueue uniqueKey(String key, Duration window) {
        if (window.compareTo(MIN_WINDOW) < 0 || window.compareTo(MAX_WINDOW) > 0)
            throw invalid("window %s of unique key '%s' is not allowed: it must be between 1 second and 366 days."
                    .formatted(window, key));
        return new Enqueue(due, priority, Names.checkKey("unique key", key), queue, gate, window);
    }

    /** Sets the queue of the run. Default: the queue of the handler. */
    public Enqueue queue(String queue) {
        return new Enqueue(due, priority, uniqueKey, Names.check("queue", queue), gate, keyWindow);
    }

    /** Allows only one run with this key to execute at a time in the cluster. */
    public Enqueue concurrencyKey(String key) {
        return concurrencyKey(key, 1);
    }

    /** Allows only {@code limit} runs with this key to execute at a time in the cluster. */
    public Enqueue concurrencyKey(String key, int limit) {
        return withGate(Gate.concurrency(key, limit));
    }

    /**
     * Executes runs with this key one after the other, in the order in which they were stored. The next run starts
     * after the previous run has ended, including its retries.
     */
    public Enqueue fifoKey(String key) {
        return withGate(Gate.fifo(key));
    }

    /** Allows only {@code starts} runs with this key to start within any {@code period}, in the cluster. */
    public Enqueue rateKey(String key, int starts, Duration period) {
        return withGate(Gate.rate(key, starts, period));
    }

    private Enqueue withGate(Gate wanted) {
        if (gate != null)
            throw invalid(
                    "A run can have only one gate (has '%s', cannot add '%s').".formatted(gate.name(), wanted.name()));
        return new Enqueue(due, priority, uniqueKey, queue, wanted, keyWindow);
    }

    private static CarillonException invalid(String what) {
        return new CarillonException(ErrorCode.INVALID_OPTION, what);
    }
}
