package io.carillon.run;

import org.jspecify.annotations.Nullable;

/**
 * A handler that returns a value.
 *
 * @param <T> the type of the payload
 * @param <R> the type of the returned value; {@link Outcome} if the handler only returns outcomes, {@link Object} if it
 *     returns outcomes and other values
 */
@FunctionalInterface
public interface ReturningHandler<T, R> {
    /**
     * Returns a value that is stored as the result of the run, or an {@link Outcome}. Null means success
     * without a result.
     */
    @Nullable
    R handle(T payload, RunContext run) throws Exception;
}
