package io.carillon.internal.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * A borrowed connection and the timeout of its statements.
 *
 * @param statementSeconds the timeout in seconds; 0 for a connection of the caller, so that the timeouts that the
 *     caller has set apply
 */
public record Session(Connection connection, int statementSeconds) {
    /** Prepares a statement with named parameters. */
    public Query query(String sql) throws SQLException {
        return new Query(connection, NamedSql.of(sql), statementSeconds);
    }

    /**
     * Prepares a statement that PostgreSQL plans at each execution. For rare statements over tables whose sizes change:
     * a plan made while a table was empty would be kept.
     */
    public Query queryWithNewPlan(String sql) throws SQLException {
        return query(sql).planEachTime();
    }

    /** Executes statements without parameters, separated by semicolons; several form one transaction. */
    public void execute(String statements) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.setEscapeProcessing(false);
            if (statementSeconds > 0) statement.setQueryTimeout(statementSeconds);
            statement.execute(statements);
        }
    }

    /** Returns a session on the same connection whose statements take at most this long. */
    public Session withTimeout(int seconds) {
        return statementSeconds == 0 ? this : new Session(connection, Math.min(statementSeconds, seconds));
    }
}
