package io.carillon.bench.server;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/** A forgotten transaction: while it is open, PostgreSQL cannot remove rows that died after its snapshot. */
public final class OldTransaction implements AutoCloseable {
    private final Connection connection;

    public OldTransaction(BenchDatabase database) throws SQLException {
        this.connection = database.connect();
    }

    /** Takes the snapshot and a transaction id. */
    public void open() throws SQLException {
        connection.setAutoCommit(false);
        connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT pg_current_xact_id()");
        }
    }

    @Override
    public void close() throws SQLException {
        if (!connection.getAutoCommit()) connection.rollback();
        connection.close();
    }
}
