package io.carillon.postgres;

import java.sql.Connection;
import java.sql.SQLException;

/** A borrowed connection and the time limit of its statements; 0 for the caller's own connections, whose limits are the caller's. */
record Session(Connection connection, int statementSeconds) {
    /** A statement with named parameters. */
    Query query(String sql) throws SQLException {
        return new Query(connection, NamedSql.of(sql), statementSeconds);
    }

    /** The same connection for statements that shall not take longer than this. */
    Session atMost(int seconds) {
        return statementSeconds == 0 ? this : new Session(connection, Math.min(statementSeconds, seconds));
    }
}
