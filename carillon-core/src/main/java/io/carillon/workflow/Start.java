package io.carillon.workflow;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.run.Enqueue;
import io.carillon.run.RunId;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** How a workflow is started: its id and the options of its run. Immutable; each method returns a changed copy. */
public final class Start {
    private static final Duration HOLD = Duration.ofDays(14);

    private final String id;
    private final Duration hold;
    private final Enqueue options;
    private final @Nullable FirstSignal firstSignal;
    private final @Nullable RunId parent;

    /**
     * A signal that is sent with the start.
     *
     * @param send the id of the signal; null if it has none
     */
    public record FirstSignal(
            Signal<?> signal, Object value, @Nullable Send send) {}

    private Start(
            String id, Duration hold, Enqueue options, @Nullable FirstSignal firstSignal, @Nullable RunId parent) {
        this.id = id;
        this.hold = hold;
        this.firstSignal = firstSignal;
        this.parent = parent;
        // Rejects an invalid id or duration here instead of at the start.
        this.options = options.uniqueKey(id, hold);
    }

    /**
     * Returns options with an id. A type has at most one workflow with an id: while the workflow lives, and at least
     * for 14 days after its start, another start with the id returns {@link StartResult.Duplicate}.
     *
     * @param id 1 to 200 characters, such as {@code order-4711}
     */
    public static Start id(String id) {
        return new Start(id, HOLD, Enqueue.now(), null, null);
    }

    /**
     * Sets how long after the start the id is held at least, also if the workflow ends earlier.
     *
     * @param duration between 1 second and 366 days
     */
    public Start holdId(Duration duration) {
        return new Start(id, duration, options, firstSignal, parent);
    }

    /**
     * Sets when the workflow is due, its queue, priority, limits, retries and timeout.
     *
     * @throws CarillonException with {@link ErrorCode#INVALID_OPTION} if the options have a unique key
     */
    public Start with(Enqueue runOptions) {
        String key = runOptions.uniqueKey();
        if (key != null)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "uniqueKey '%s' is not allowed here: the id '%s' is the unique key of the workflow."
                            .formatted(key, id));
        return new Start(id, hold, runOptions, firstSignal, parent);
    }

    /**
     * Sends a signal in the transaction of the start: to the workflow that is started, or to the one that has the id
     * already. If that one has ended, the start throws a {@link CarillonException} with
     * {@link ErrorCode#UNKNOWN_RUN}.
     */
    public <T> Start signal(Signal<T> signal, T value) {
        return new Start(id, hold, options, new FirstSignal(signal, value, null), parent);
    }

    /** Like {@link #signal(Signal, Object)}, but the workflow gets at most one signal with this id. */
    public <T> Start signal(Signal<T> signal, T value, Send send) {
        return new Start(id, hold, options, new FirstSignal(signal, value, send), parent);
    }

    /**
     * Makes the workflow a child of another workflow of the project, which starts it from a step:
     * {@code Start.id(step.idempotencyKey()).childOf(flow.id())}. Each of them shows the other. The child is otherwise
     * independent: a cancel of its parent does not cancel it.
     */
    public Start childOf(RunId workflow) {
        return new Start(id, hold, options, firstSignal, workflow);
    }

    /** Returns the id. */
    public String id() {
        return id;
    }

    /** Returns the signal that is sent with the start; null if there is none. */
    public @Nullable FirstSignal firstSignal() {
        return firstSignal;
    }

    /** Returns the workflow of which the started one is a child; null if it is none. */
    public @Nullable RunId parent() {
        return parent;
    }

    /** Returns the options of the run, with the id as unique key. */
    public Enqueue runOptions() {
        return options;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Start that
                && options.equals(that.options)
                && Objects.equals(firstSignal, that.firstSignal)
                && Objects.equals(parent, that.parent);
    }

    @Override
    public int hashCode() {
        return Objects.hash(options, firstSignal, parent);
    }

    @Override
    public String toString() {
        return "Start[id=%s, hold=%s, options=%s, signal=%s, parent=%s]"
                .formatted(id, hold, options, firstSignal, parent);
    }
}
