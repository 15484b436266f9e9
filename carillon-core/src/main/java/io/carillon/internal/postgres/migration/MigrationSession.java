package io.carillon.internal.postgres.migration;

import io.carillon.internal.jdbc.Session;
import io.carillon.internal.value.ControlCharacters;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The advisory lock, the timeouts and the cleanup of a migration's connection. */
final class MigrationSession {
    private static final Logger log = LoggerFactory.getLogger(MigrationSession.class);

    /** An arbitrary number that must never change: every version must use the same lock. */
    private static final long LOCK = 0x0CA2_1110_4D16_0001L;

    private static final String LOCK_FOR_TRANSACTION = "SELECT pg_try_advisory_xact_lock(%d) AS result".formatted(LOCK);
    private static final String LOCK_FOR_SESSION = "SELECT pg_try_advisory_lock(%d) AS result".formatted(LOCK);
    private static final String UNLOCK = "SELECT pg_advisory_unlock(%d) AS result".formatted(LOCK);

    private static final String HOLDER = """
            SELECT string_agg(l.pid::text, ', ') AS result FROM pg_catalog.pg_locks l
              JOIN pg_catalog.pg_database d ON d.oid = l.database AND d.datname = current_database()
             WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND l.classid = %d AND l.objid = %d
            """.formatted(LOCK >>> 32, LOCK & 0xFFFF_FFFFL);

    private static final String TIMEOUTS =
            "SELECT current_setting('lock_timeout') || ' ' || current_setting('statement_timeout') AS result";
    private static final String SET_TIMEOUTS =
            "SELECT set_config('lock_timeout', '%s', false) || set_config('statement_timeout', '%s', false) AS result";

    private final Connection connection;
    private final Session session;

    MigrationSession(Connection connection) {
        this.connection = connection;
        this.session = new Session(connection, 0);
    }

    void execute(String sql) throws SQLException {
        session.execute(sql);
    }

    /** Returns the column {@code name} of each row. */
    List<String> names(String sql) throws SQLException {
        return session.query(sql).list(row -> row.text("name"));
    }

    private boolean isTrue(String sql) throws SQLException {
        return session.query(sql).first(row -> row.flag("result")).orElseThrow();
    }

    private String text(String sql) throws SQLException {
        return session.query(sql)
                .first(row -> String.valueOf(row.maybeText("result")))
                .orElseThrow();
    }

    boolean lockForTransaction() throws SQLException {
        return isTrue(LOCK_FOR_TRANSACTION);
    }

    boolean lock() throws SQLException {
        return isTrue(LOCK_FOR_SESSION);
    }

    /** Releases the lock, or ends the session if that fails: a connection must not take the lock back to its pool. */
    void unlock() throws SQLException {
        boolean given = false;
        try {
            given = isTrue(UNLOCK);
        } finally {
            if (!given) connection.abort(Runnable::run);
        }
    }

    /** Returns a description of the session that holds the lock. */
    String lockHolder() throws SQLException {
        return "another process is migrating (database session with pid %s)".formatted(text(HOLDER));
    }

    /** Ends the transaction, and rolls it back unless it was committed. */
    void endTransaction() throws SQLException {
        connection.rollback();
        connection.setAutoCommit(true);
    }

    /** Returns the lock timeout and the statement timeout in the form that {@link #setTimeouts} accepts. */
    String timeouts() throws SQLException {
        return text(TIMEOUTS);
    }

    void setTimeouts(String lockAndStatement) throws SQLException {
        text(SET_TIMEOUTS.formatted((Object[]) lockAndStatement.split(" ", 2)));
    }

    /**
     * Runs a cleanup step. It fails only on a broken connection, and must not hide the exception that says why the
     * connection broke.
     */
    static void quietly(Cleanup cleanup) {
        try {
            cleanup.run();
        } catch (SQLException e) {
            log.debug("migration connection is broken error={}", ControlCharacters.escape(e.getMessage()));
        }
    }

    /** Returns the server's message without the lines that locate the error in a function. */
    static String firstLine(SQLException e) {
        return String.valueOf(e.getMessage()).lines().findFirst().orElse("no message");
    }

    /** A step that restores the connection. */
    interface Cleanup {
        void run() throws SQLException;
    }
}
