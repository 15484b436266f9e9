package io.carillon.engine;

import java.sql.Connection;
import java.sql.SQLException;

/** Where the transactions of transactional handlers come from: the user's data source. */
@FunctionalInterface
public interface TransactionConnections {
    Connection open() throws SQLException;
}
