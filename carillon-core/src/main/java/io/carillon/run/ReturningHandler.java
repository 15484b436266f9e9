package io.carillon.run;

import org.jspecify.annotations.Nullable;

/**
 * A handler that returns an {@link Outcome}, or another value, which is stored as the result of the run. Null means
 * success without a result.
 */
@FunctionalInterface
public interface ReturningHandler<T> {
    @Nullable
    Object handle(T payload, RunContext run) throws Exception;
}
