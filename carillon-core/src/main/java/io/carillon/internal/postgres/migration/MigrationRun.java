package io.carillon.internal.postgres.migration;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.jdbc.Backend;
import io.carillon.internal.value.ControlCharacters;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One run of the pending migrations, on a connection that holds the advisory lock while it writes. A file in a
 * transaction takes the lock with the transaction, so no lock is left to release, even behind a pooler that changes
 * sessions between transactions.
 */
final class MigrationRun {
    private static final Logger log = LoggerFactory.getLogger(MigrationRun.class);

    // Read committed, whatever the pool sets: the state must be read as it is after the lock was acquired. Names
    // resolve as written, never to a user's object.
    private static final String PREPARE = """
            SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
            SET LOCAL search_path = pg_catalog;
            SET LOCAL statement_timeout = 0;
            SET LOCAL lock_timeout = '2s';
            """;

    // Partitions without the index, or with one whose build was interrupted.
    private static final String WITHOUT_INDEX = """
            SELECT p.relname AS name FROM pg_catalog.pg_inherits i
              JOIN pg_catalog.pg_class p ON p.oid = i.inhrelid
             WHERE i.inhparent = to_regclass('carillon.%1$s')
               AND EXISTS (SELECT 1 FROM pg_catalog.pg_class t WHERE t.oid = i.inhparent AND t.relkind = 'p')
               AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class n ON n.oid = x.indexrelid
                                WHERE x.indrelid = p.oid AND x.indisvalid AND n.relname = p.relname || '_%2$s')
             ORDER BY p.relname
            """;

    private static final String LACKS_RIGHTS = "42501";
    /** Lock not available, deadlock, serialization failure: worth a retry. */
    private static final Set<String> RETRYABLE_STATES = Set.of("55P03", "40P01", "40001");

    /** A function that opens another connection. */
    interface ConnectionFactory {
        Connection connect() throws SQLException;
    }

    private final Connection connection;
    private final ConnectionFactory connections;
    private final MigrationSession session;
    private final List<Migration> files;
    private final Duration waitTimeout;

    MigrationRun(Connection connection, ConnectionFactory connectionFactory, List<Migration> files, Duration atMost) {
        this.connection = connection;
        this.connections = connectionFactory;
        this.session = new MigrationSession(connection);
        this.files = files;
        this.waitTimeout = atMost;
    }

    /** Continues until nothing is pending, whichever process applied it. */
    void applyPending() throws SQLException {
        RetryDeadline deadline = new RetryDeadline(waitTimeout);
        List<Migration> pending = pending();
        while (!pending.isEmpty()) {
            Migration next = pending.get(0);
            String obstacle = tryApply(next);
            if (obstacle == null) {
                deadline.restart();
            } else if (deadline.isExpired()) {
                throw timedOut(next, obstacle);
            } else {
                log.debug("migration waits file={} obstacle={}", next.file(), ControlCharacters.escape(obstacle));
                deadline.pause();
            }
            pending = pending();
        }
    }

    private List<Migration> pending() throws SQLException {
        return SchemaState.read(connection).pending(files);
    }

    /** Returns null if the migration is applied, by any process; otherwise the temporary obstacle. */
    private @Nullable String tryApply(Migration next) throws SQLException {
        try {
            return next.transactional() ? applyInTransaction(next) : applyOutsideTransaction(next);
        } catch (SQLException e) {
            if (RETRYABLE_STATES.contains(e.getSQLState())) return MigrationSession.firstLine(e);
            throw LACKS_RIGHTS.equals(e.getSQLState()) ? lacksRights(next, e) : broken(next, e);
        }
    }

    private @Nullable String applyInTransaction(Migration next) throws SQLException {
        connection.setAutoCommit(false);
        try {
            session.execute(PREPARE);
            if (!session.lockForTransaction()) return session.lockHolder();
            if (!pending().contains(next)) return null;
            if (next.number() == 1) session.execute(Migrator.BOOTSTRAP);
            session.execute(next.sql());
            session.execute(next.insertStatement());
            connection.commit();
            log.info("migration applied file={}", next.file());
            return null;
        } finally {
            MigrationSession.quietly(session::endTransaction);
        }
    }

    /**
     * Applies a file outside a transaction: index builds while other sessions work. They wait for every older
     * transaction but block no session, so they may wait long.
     */
    private @Nullable String applyOutsideTransaction(Migration next) throws SQLException {
        if (Backend.isPooled(connection)) return applyBehindPooler(next);
        String timeouts = session.timeouts();
        if (!session.lock()) return session.lockHolder();
        try {
            if (!pending().contains(next)) return null;
            session.setTimeouts("%dms 0".formatted(Math.max(1, waitTimeout.toMillis())));
            apply(next);
            return null;
        } finally {
            MigrationSession.quietly(() -> session.setTimeouts(timeouts));
            MigrationSession.quietly(session::unlock);
        }
    }

    /**
     * Applies a file behind a pooler. The lock and the settings of a session could stay on a session that another
     * client uses next, so a transaction on another connection holds the lock.
     */
    private @Nullable String applyBehindPooler(Migration next) throws SQLException {
        try (Connection other = Backend.disableServerPrepare(connections.connect())) {
            MigrationSession guard = new MigrationSession(other);
            other.setAutoCommit(false);
            try {
                if (!guard.lockForTransaction()) return guard.lockHolder();
                // After the lock, because this statement also ends the snapshot of the statement before: an index build
                // waits for every older snapshot.
                guard.execute("SET LOCAL idle_in_transaction_session_timeout = 0");
                if (pending().contains(next)) apply(next);
                return null;
            } finally {
                MigrationSession.quietly(guard::endTransaction);
            }
        }
    }

    private void apply(Migration next) throws SQLException {
        for (String statement : SqlScript.statements(next.sql())) {
            Optional<SqlScript.Index> index = SqlScript.index(statement);
            if (index.isPresent()) buildConcurrently(index.get());
            if (SqlScript.isConcurrent(statement)) session.execute(statement);
            else executeWithShortLock(statement);
        }
        session.execute(next.insertStatement());
        log.info("migration applied file={}", next.file());
    }

    /**
     * Builds an index on the partitions first. PostgreSQL cannot build the index of a partitioned table concurrently
     * with writers, but it takes over indexes that the partitions already have.
     */
    private void buildConcurrently(SqlScript.Index index) throws SQLException {
        for (String partition : session.names(WITHOUT_INDEX.formatted(index.table(), index.name()))) {
            String name = partition + "_" + index.name();
            try {
                session.execute("DROP INDEX CONCURRENTLY IF EXISTS carillon." + name);
                session.execute(
                        "CREATE INDEX CONCURRENTLY " + name + " ON carillon." + partition + " " + index.definition());
            } catch (SQLException e) {
                // Retention removed the partition meanwhile.
                if (!SchemaState.NO_SUCH_TABLE.equals(e.getSQLState())) throw e;
            }
        }
    }

    /**
     * Executes one statement in its own transaction. It waits at most two seconds for its lock, because all later
     * sessions wait behind it, and tries again. A lock on a busy table is held for this statement only, and never while
     * the migration waits for another lock.
     */
    private void executeWithShortLock(String statement) throws SQLException {
        RetryDeadline deadline = new RetryDeadline(waitTimeout);
        while (!tryExecute(statement, deadline)) deadline.pause();
    }

    private boolean tryExecute(String statement, RetryDeadline deadline) throws SQLException {
        connection.setAutoCommit(false);
        try {
            session.execute(PREPARE);
            session.execute(statement);
            connection.commit();
            return true;
        } catch (SQLException e) {
            if (!RETRYABLE_STATES.contains(e.getSQLState()) || deadline.isExpired()) throw e;
            log.debug("migration statement waits obstacle={}", ControlCharacters.escape(MigrationSession.firstLine(e)));
            return false;
        } finally {
            MigrationSession.quietly(session::endTransaction);
        }
    }

    private CarillonException timedOut(Migration next, String obstacle) {
        return new CarillonException(
                ErrorCode.STORAGE,
                ("Migration %s did not get its lock within %s: %s. It changed nothing. If another process is"
                                + " still migrating, start again when it is done; otherwise end the session that holds"
                                + " the lock (see pg_stat_activity) and start again.")
                        .formatted(next.file(), waitTimeout, obstacle));
    }

    private CarillonException lacksRights(Migration next, SQLException e) throws SQLException {
        String user = connection.getMetaData().getUserName();
        return new CarillonException(
                ErrorCode.UNSUITABLE_DATA_SOURCE,
                ("The database user %s lacks the permission for migration %s: %s. Let an administrator run CREATE"
                                + " SCHEMA carillon AUTHORIZATION %s (then no permission on the database is needed), or"
                                + " apply the SQL of Schema.sql(%d) or 'carillon migrate --print' as the owner and"
                                + " start with SchemaMode.VALIDATE.")
                        .formatted(user, next.file(), MigrationSession.firstLine(e), user, next.number()),
                e);
    }

    private static CarillonException broken(Migration next, SQLException e) {
        String left = next.transactional()
                ? "It changed nothing"
                : "It runs outside a transaction and starts over at the next start";
        return new CarillonException(
                ErrorCode.STORAGE,
                "Migration %s failed: %s. %s. Remove the cause and start again."
                        .formatted(next.file(), MigrationSession.firstLine(e), left),
                e);
    }
}
