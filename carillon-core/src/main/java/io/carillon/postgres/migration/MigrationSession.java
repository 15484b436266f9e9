package io.carillon.postgres.migration;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a migration needs of its connection beyond its SQL: the advisory lock, timeouts, and a clean end. */
final class MigrationSession {
    private static final Logger log = LoggerFactory.getLogger(MigrationSession.class);

    /** Arbitrary, but fixed for ever: every version must ask for the same lock. */
    private static final long LOCK = 0x0CA2_1110_4D16_0001L;

    private static final String LOCK_FOR_TRANSACTION = "SELECT pg_try_advisory_xact_lock(%d)".formatted(LOCK);
    private static final String LOCK_FOR_SESSION = "SELECT pg_try_advisory_lock(%d)".formatted(LOCK);
    private static final String UNLOCK = "SELECT pg_advisory_unlock(%d)".formatted(LOCK);

    private static final String HOLDER = """
            SELECT string_agg(l.pid::text, ', ') FROM pg_catalog.pg_locks l
              JOIN pg_catalog.pg_database d ON d.oid = l.database AND d.datname = current_database()
             WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND l.classid = %d AND l.objid = %d
            """.formatted(LOCK >>> 32, LOCK & 0xFFFF_FFFFL);

    private static final String TIMEOUTS =
            "SELECT current_setting('lock_timeout') || ' ' || current_setting('statement_timeout')";
    private static final String SET_TIMEOUTS =
            "SELECT set_config('lock_timeout', '%s', false) || set_config('statement_timeout', '%s', false)";

    private final Connection connection;

    MigrationSession(Connection connection) {
        this.connection = connection;
    }

    void execute(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.setEscapeProcessing(false);
            statement.execute(sql);
        }
    }

    /** The first column of each row. */
    List<String> list(String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            List<String> all = new ArrayList<>();
            while (row.next()) all.add(row.getString(1));
            return all;
        }
    }

    private String ask(String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return String.valueOf(row.getString(1));
        }
    }

    boolean lockForTransaction() throws SQLException {
        return ask(LOCK_FOR_TRANSACTION).equals("t");
    }

    boolean lock() throws SQLException {
        return ask(LOCK_FOR_SESSION).equals("t");
    }

    /** Gives the lock back, or ends the whole session where that fails: a pooled connection must not carry it away. */
    void unlock() throws SQLException {
        boolean given = false;
        try {
            given = ask(UNLOCK).equals("t");
        } finally {
            if (!given) connection.abort(Runnable::run);
        }
    }

    /** Who has the lock, in words. */
    String lockHolder() throws SQLException {
        return "another process is migrating (database session with pid %s)".formatted(ask(HOLDER));
    }

    /** Ends the transaction without effect, unless it was committed. */
    void endTransaction() throws SQLException {
        connection.rollback();
        connection.setAutoCommit(true);
    }

    /** The bounds on waits for locks and on statements, as {@link #setTimeouts} takes them back. */
    String timeouts() throws SQLException {
        return ask(TIMEOUTS);
    }

    void setTimeouts(String lockAndStatement) throws SQLException {
        ask(SET_TIMEOUTS.formatted((Object[]) lockAndStatement.split(" ", 2)));
    }

    /** Cleans up. What fails here comes of a broken connection, and must not hide the exception that tells why it broke. */
    static void quietly(Cleanup cleanup) {
        try {
            cleanup.run();
        } catch (SQLException e) {
            log.debug("migration connection is broken error={}", e.getMessage());
        }
    }

    /** What the server said, without the lines on where in which function. */
    static String firstLine(SQLException e) {
        return String.valueOf(e.getMessage()).lines().findFirst().orElse("no message");
    }

    /** A step that leaves the connection as it was found. */
    interface Cleanup {
        void run() throws SQLException;
    }
}
