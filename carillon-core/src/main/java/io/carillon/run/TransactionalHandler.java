package io.carillon.run;

import java.sql.Connection;

/** A handler whose writes on the given connection and the run's completion commit together, or not at all. It must not commit or roll back itself. */
@FunctionalInterface
public interface TransactionalHandler<T> {
    void handle(T payload, RunContext run, Connection connection) throws Exception;
}
