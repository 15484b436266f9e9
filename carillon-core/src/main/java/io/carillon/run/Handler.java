package io.carillon.run;

/**
 * User code that processes the payload of a run. The attempt succeeds if the method returns, and fails if it throws; a
 * failed run is retried as its {@link Retry} allows.
 */
@FunctionalInterface
public interface Handler<T> {
    void handle(T payload, RunContext run) throws Exception;
}
