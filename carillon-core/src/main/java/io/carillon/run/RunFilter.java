package io.carillon.run;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.Names;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Selects runs. Immutable; each method returns a changed copy. */
public final class RunFilter {
    private final @Nullable String queue;
    private final @Nullable String handler;
    private final @Nullable RunState state;
    private final int limit;

    private RunFilter(@Nullable String queue, @Nullable String handler, @Nullable RunState state, int limit) {
        if (queue != null) Names.check("queue", queue);
        if (handler != null) Names.checkKey("handler name", handler);
        if (limit < 1 || limit > 10_000)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION, "limit must be between 1 and 10000 (was %d).".formatted(limit));
        this.queue = queue;
        this.handler = handler;
        this.state = state;
        this.limit = limit;
    }

    /** Returns a filter that matches all runs, with a limit of 1,000. */
    public static RunFilter all() {
        return new RunFilter(null, null, null, 1_000);
    }

    /** Returns a copy that matches only runs of this queue. */
    public RunFilter queue(String queue) {
        return new RunFilter(queue, handler, state, limit);
    }

    /** Returns a copy that matches only runs of this handler. */
    public RunFilter handler(String handler) {
        return new RunFilter(queue, handler, state, limit);
    }

    /** Returns a copy that matches only runs in this state. */
    public RunFilter state(RunState state) {
        return new RunFilter(queue, handler, state, limit);
    }

    /** Returns a copy with this maximum number of runs for one call, between 1 and 10,000. */
    public RunFilter limit(int limit) {
        return new RunFilter(queue, handler, state, limit);
    }

    /** Returns the queue of the runs; null for all. */
    public @Nullable String queue() {
        return queue;
    }

    /** Returns the handler of the runs; null for all. */
    public @Nullable String handler() {
        return handler;
    }

    /** Returns the state of the runs; null for all. */
    public @Nullable RunState state() {
        return state;
    }

    /** Returns the maximum number of runs for one call. */
    public int limit() {
        return limit;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof RunFilter that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    @Override
    public String toString() {
        return "RunFilter[queue=%s, handler=%s, state=%s, limit=%s]".formatted(values().toArray());
    }

    private List<@Nullable Object> values() {
        return Arrays.asList(queue, handler, state, limit);
    }
}
