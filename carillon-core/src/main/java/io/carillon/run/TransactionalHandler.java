package io.carillon.run;

import java.sql.Connection;

/**
 * A handler whose writes on the given connection commit or roll back together with the completion of the run. It must
 * not commit or roll back the connection.
 */
@FunctionalInterface
public interface TransactionalHandler<T> {
    void handle(T payload, RunContext run, Connection connection) throws Exception;
}
