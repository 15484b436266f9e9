package io.carillon.run;

import org.jspecify.annotations.Nullable;

/** A handler that answers: an {@link Outcome}, or any other value, which is stored as the run's result. */
@FunctionalInterface
public interface ReturningHandler<T> {
    @Nullable
    Object handle(T payload, RunContext run) throws Exception;
}
