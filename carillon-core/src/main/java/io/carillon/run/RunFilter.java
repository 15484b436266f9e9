package io.carillon.run;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.value.Names;
import org.jspecify.annotations.Nullable;

/** Chooses runs by what they are; a part that is not set matches all. At most {@code limit} are touched by one call. */
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
                    ErrorCode.INVALID_OPTION, "The limit %d is outside 1..10000. Choose one inside.".formatted(limit));
    }

    /** Everything, up to 1,000. */
    public static RunFilter all() {
        return new RunFilter(null, null, null, 1_000);
    }

    public RunFilter queue(String queue) {
        return new RunFilter(queue, handler, state, limit);
    }

    public RunFilter handler(String handler) {
        return new RunFilter(queue, handler, state, limit);
    }

    public RunFilter state(RunState state) {
        return new RunFilter(queue, handler, state, limit);
    }

    public RunFilter limit(int limit) {
        return new RunFilter(queue, handler, state, limit);
    }
}
