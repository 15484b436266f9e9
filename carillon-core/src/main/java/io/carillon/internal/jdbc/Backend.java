package io.carillon.internal.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.postgresql.PGConnection;

/**
 * The server process behind a connection. A pooler answers the driver's startup message itself, and assigns a server
 * process for a session or only for a transaction.
 */
public final class Backend {
    private static final String PID = "SELECT pg_backend_pid()";

    private Backend() {}

    /** Returns the process that serves this connection now. */
    public static int pid(Connection connection) throws SQLException {
        // No Query: after some calls the driver would prepare it on the server, which fails behind a pooler.
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(PID)) {
            row.next();
            return row.getInt(1);
        }
    }

    /**
     * Returns whether a pooler is between the driver and the server: the process id in the startup answer differs from
     * that of the serving process.
     */
    public static boolean isPooled(Connection connection) throws SQLException {
        // Another driver, or a wrapper that hides it: the pooler cannot be detected, and the code below does not rely
        // on it.
        if (!connection.isWrapperFor(PGConnection.class)) return false;
        return connection.unwrap(PGConnection.class).getBackendPID() != pid(connection);
    }

    /**
     * Keeps the driver from preparing anything on the server for this connection, even its COMMIT. Behind a pooler that
     * assigns sessions for one transaction, the name of a prepared statement would mean nothing in the next session, or
     * another statement.
     */
    public static Connection disableServerPrepare(Connection connection) throws SQLException {
        connection.unwrap(PGConnection.class).setPrepareThreshold(0);
        return connection;
    }
}
