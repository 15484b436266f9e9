package io.carillon.internal.engine.attempt;

import java.sql.Connection;
import java.sql.SQLException;

/** The source of connections for transactional handlers: the user's data source. */
@FunctionalInterface
public interface HandlerConnections {
    /** Returns a connection that the caller closes. */
    Connection open() throws SQLException;
}
