package io.carillon.internal.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.function.Consumer;

/**
 * A borrowed connection and the timeout of its statements.
 *
 * @param statementSeconds the timeout in seconds; 0 for a connection of the caller, so that the timeouts that the
 *     caller has set apply
 * @param afterCommit receives what runs after the commit of the transaction
 */
public record Session(Connection connection, int statementSeconds, Consumer<Runnable> afterCommit) {
    /** Creates a session in which nothing runs after the commit. */
    public Session(Connection connection, int statementSeconds) {
        this(connection, statementSeconds, task -> {});
    }

    /**
     * Lets a task run after the commit: after the statement in autocommit, and never if the transaction is rolled back.
     * In the transaction of a caller who takes no such tasks, it never runs. The task must not throw.
     */
    public void afterCommit(Runnable task) {
        afterCommit.accept(task);
    }

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
        return statementSeconds == 0 ? this : new Session(connection, Math.min(statementSeconds, seconds), afterCommit);
    }
}
