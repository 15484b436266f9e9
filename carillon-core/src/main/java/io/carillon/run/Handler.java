package io.carillon.run;

/** What to do with a payload. Returning means it succeeded; throwing means it failed and may be tried again. */
@FunctionalInterface
public interface Handler<T> {
    void handle(T payload, RunContext run) throws Exception;
}
