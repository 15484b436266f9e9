package io.carillon.run;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.value.Names;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** When and how one run is stored. Immutable; each method returns a changed copy. */
public record Enqueue(
        Due due,
        @Nullable Priority priority,
        @Nullable String key,
        @Nullable String queue,
        @Nullable Gate gate,
        @Nullable Duration window) {
    private static final Duration LONGEST = Duration.ofDays(36_500);
    private static final Duration SHORTEST_WINDOW = Duration.ofSeconds(1);
    private static final Duration LONGEST_WINDOW = Duration.ofDays(366);
    private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59Z");

    /** When a run falls due: after a while on the database's clock, or at an instant the user names. */
    public sealed interface Due {
        record After(Duration delay) implements Due {}

        record At(Instant instant) implements Due {}
    }

    /** At once. */
    public static Enqueue now() {
        return after(Duration.ZERO);
    }

    /** After a while, measured by the database's clock. */
    public static Enqueue after(Duration delay) {
        if (delay.isNegative() || delay.compareTo(LONGEST) > 0)
            throw invalid("The delay %s is outside 0..100 years.".formatted(delay));
        return new Enqueue(new Due.After(delay), null, null, null, null, null);
    }

    /** At an instant; one that has passed means at once. */
    public static Enqueue at(Instant instant) {
        if (instant.isAfter(LATEST) || instant.isBefore(Instant.EPOCH))
            throw invalid("The instant %s is outside the years 1970..9999.".formatted(instant));
        return new Enqueue(new Due.At(instant), null, null, null, null, null);
    }

    /** The share this run has of its lane. */
    public Enqueue priority(Priority priority) {
        return new Enqueue(due, priority, key, queue, gate, window);
    }

    /** At most one run of the handler with this key waits or runs, in whichever queue; a second enqueue answers {@link EnqueueResult.AlreadyThere}. */
    public Enqueue key(String key) {
        return new Enqueue(due, priority, Names.checkKey("uniqueness key", key), queue, gate, null);
    }

    /**
     * The same, and the key holds for at least so long from now on, even if the run has ended by then: a second enqueue with a window answers
     * {@link EnqueueResult.AlreadyThere} with this run.
     */
    public Enqueue key(String key, Duration window) {
        if (window.compareTo(SHORTEST_WINDOW) < 0 || window.compareTo(LONGEST_WINDOW) > 0)
            throw invalid("The window %s of the key '%s' is outside one second and one year.".formatted(window, key));
        return new Enqueue(due, priority, Names.checkKey("uniqueness key", key), queue, gate, window);
    }

    /** Another queue than the handler's. */
    public Enqueue queue(String queue) {
        return new Enqueue(due, priority, key, Names.check("queue", queue), gate, window);
    }

    /** At most one run of this key runs at a time, in the whole cluster. */
    public Enqueue concurrencyKey(String key) {
        return concurrencyKey(key, 1);
    }

    /** At most so many runs of this key run at a time, in the whole cluster. */
    public Enqueue concurrencyKey(String key, int atMost) {
        return behind(Gate.concurrency(key, atMost));
    }

    /** Runs of this key run one after the other, in the order they were stored; the next one starts when the one before has ended for good. */
    public Enqueue fifoKey(String key) {
        return behind(Gate.fifo(key));
    }

    /** In any stretch of this time start at most so many runs of this key, in the whole cluster. */
    public Enqueue rateKey(String key, int starts, Duration in) {
        return behind(Gate.rate(key, starts, in));
    }

    private Enqueue behind(Gate wanted) {
        if (gate != null)
            throw invalid("A run waits behind one gate: '%s' or '%s'.".formatted(gate.name(), wanted.name()));
        return new Enqueue(due, priority, key, queue, wanted, window);
    }

    private static CarillonException invalid(String what) {
        return new CarillonException(ErrorCode.INVALID_OPTION, what + " Choose what is allowed.");
    }
}
