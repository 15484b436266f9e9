package io.carillon.run;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.Names;
import org.jspecify.annotations.Nullable;

/**
 * Selects runs. A component that is null matches all runs. Immutable; each method returns a changed copy.
 *
 * @param limit the maximum number of runs for one call, between 1 and 10,000
 */
public record RunFilter(
        @Nullable String queue,
        @Nullable String handler,
        @Nullable RunState state,
        int limit) {
    public RunFilter {
        if (queue != null) Names.check("queue", queue);
        if (handler != null) Names.checkKey("handler name", handler);
        if (limit < 1 || limit > 10_000)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION, "limit must be between 1 and 10000 (was %d).".formatted(limit));
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
    /** Returns a copy with this limit. */
    public RunFilter limit(int limit) {
        return new RunFilter(queue, handler, state, limit);
    }
}
