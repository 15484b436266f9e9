package io.carillon.postgres;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * A borrowed connection and the timeout of its statements in seconds; 0 for the caller's connection, whose limits are
 * the caller's.
 */
record Session(Connection connection, int statementSeconds) {
    /** Prepares a statement with named parameters. */
    Query query(String sql) throws SQLException {
        return new Query(connection, NamedSql.of(sql), statementSeconds);
    }

    /** Returns a session on the same connection whose statements take at most this long. */
    Session withTimeout(int seconds) {
        return statementSeconds == 0 ? this : new Session(connection, Math.min(statementSeconds, seconds));
    }
}
