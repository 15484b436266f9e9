package io.carillon.postgres.backend;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.postgresql.PGConnection;

/** The server process behind a connection. A pooler answers the driver's greeting itself, and lends a process for a session or only for a transaction. */
public final class Backend {
    private static final String PID = "SELECT pg_backend_pid()";

    private Backend() {}

    /** The process that serves this connection now. */
    public static int pid(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(PID)) {
            row.next();
            return row.getInt(1);
        }
    }

    /** Whether a pooler stands between: who greeted the driver is not who serves it. */
    public static boolean pooled(Connection connection) throws SQLException {
        // Another driver, or a wrapper that hides it: then nobody can tell, and nothing below relies on it.
        if (!connection.isWrapperFor(PGConnection.class)) return false;
        return connection.unwrap(PGConnection.class).getBackendPID() != pid(connection);
    }

    /**
     * Which settings of the driver are missing that let it leave a server that does not answer. A server that is frozen still accepts connections: without a
     * socketTimeout the driver waits for its greeting and never tries the next host.
     */
    public static List<String> missingTimeouts(Connection connection) throws SQLException {
        List<String> missing = new ArrayList<>();
        if (connection.getNetworkTimeout() == 0) missing.add("socketTimeout");
        String url = String.valueOf(connection.getMetaData().getURL());
        if (url.matches(".*[?&]connectTimeout=0(&.*)?")) missing.add("connectTimeout");
        if (severalHosts(connection) && !url.contains("targetServerType=")) missing.add("targetServerType");
        return missing;
    }

    /** Whether the driver has another host to go to. */
    public static boolean severalHosts(Connection connection) throws SQLException {
        return String.valueOf(connection.getMetaData().getURL()).matches("jdbc:postgresql://[^/?]*,.*");
    }

    /**
     * From now on the driver prepares nothing on the server for this connection, not even its COMMIT. Behind a pooler that lends its sessions for one transaction
     * the name of a prepared statement would mean nothing in the next session, or something else.
     */
    public static Connection preparingNothing(Connection connection) throws SQLException {
        connection.unwrap(PGConnection.class).setPrepareThreshold(0);
        return connection;
    }
}
