package io.carillon.postgres.migration;

import io.carillon.postgres.backend.Backend;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
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
 * Applies what is pending, on one connection that holds the advisory lock while it writes. A file in a transaction takes the lock with the
 * transaction, so nothing is left to release, not even behind a pooler that changes sessions between transactions.
 */
final class MigrationRun {
    private static final Logger log = LoggerFactory.getLogger(MigrationRun.class);

    // Read committed, whatever the pool says: the state must be read as it is after the lock was had. Names resolve as
    // written, to no user's object.
    private static final String PREPARE = """
            SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
            SET LOCAL search_path = pg_catalog;
            SET LOCAL statement_timeout = 0;
            SET LOCAL lock_timeout = '2s';
            """;

    // Partitions that lack the index, or have one whose build broke off.
    private static final String WITHOUT_INDEX = """
            SELECT p.relname FROM pg_catalog.pg_inherits i
              JOIN pg_catalog.pg_class p ON p.oid = i.inhrelid
             WHERE i.inhparent = to_regclass('carillon.%1$s')
               AND EXISTS (SELECT 1 FROM pg_catalog.pg_class t WHERE t.oid = i.inhparent AND t.relkind = 'p')
               AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class n ON n.oid = x.indexrelid
                                WHERE x.indrelid = p.oid AND x.indisvalid AND n.relname = p.relname || '_%2$s')
             ORDER BY p.relname
            """;

    private static final String LACKS_RIGHTS = "42501";
    private static final String NO_SUCH_TABLE = "42P01";
    /** Lock not available, deadlock, serialization failure: worth another try. */
    private static final Set<String> PASSING = Set.of("55P03", "40P01", "40001");

    /** Another connection. */
    interface More {
        Connection connect() throws SQLException;
    }

    private final Connection connection;
    private final More more;
    private final MigrationSession session;
    private final List<Migration> files;
    private final Duration atMost;

    MigrationRun(Connection connection, More more, List<Migration> files, Duration atMost) {
        this.connection = connection;
        this.more = more;
        this.session = new MigrationSession(connection);
        this.files = files;
        this.atMost = atMost;
    }

    /** Goes on until nothing is pending, whoever applied it. */
    void toTheEnd() throws SQLException {
        Patience patience = new Patience(atMost);
        List<Migration> pending = pending();
        while (!pending.isEmpty()) {
            Migration next = pending.get(0);
            String obstacle = attempt(next);
            if (obstacle == null) {
                patience.renew();
            } else if (patience.exhausted()) {
                throw gaveUp(next, obstacle);
            } else {
                log.debug("migration waits file={} obstacle={}", next.file(), obstacle);
                patience.pause();
            }
            pending = pending();
        }
    }

    private List<Migration> pending() throws SQLException {
        return SchemaState.read(connection).pending(files);
    }

    /** Null: it is applied, by whomever. Else what stood in the way and may pass. */
    private @Nullable String attempt(Migration next) throws SQLException {
        try {
            return next.transactional() ? inTransaction(next) : alone(next);
        } catch (SQLException e) {
            if (PASSING.contains(e.getSQLState())) return MigrationSession.firstLine(e);
            throw LACKS_RIGHTS.equals(e.getSQLState()) ? lacksRights(next, e) : broken(next, e);
        }
    }

    private @Nullable String inTransaction(Migration next) throws SQLException {
        connection.setAutoCommit(false);
        try {
            session.execute(PREPARE);
            if (!session.lockForTransaction()) return session.lockHolder();
            if (!pending().contains(next)) return null;
            if (next.number() == 1) session.execute(Migrator.BOOTSTRAP);
            session.execute(next.sql());
            session.execute(next.entry());
            connection.commit();
            log.info("migration applied file={}", next.file());
            return null;
        } finally {
            MigrationSession.quietly(session::endTransaction);
        }
    }

    /** Index builds beside running work. They wait for every older transaction, but block nobody: so they may wait long. */
    private @Nullable String alone(Migration next) throws SQLException {
        if (Backend.pooled(connection)) return behindPooler(next);
        String timeouts = session.timeouts();
        if (!session.lock()) return session.lockHolder();
        try {
            if (!pending().contains(next)) return null;
            session.setTimeouts("%dms 0".formatted(Math.max(1, atMost.toMillis())));
            apply(next);
            return null;
        } finally {
            MigrationSession.quietly(() -> session.setTimeouts(timeouts));
            MigrationSession.quietly(session::unlock);
        }
    }

    /** A session's lock and settings could stay behind on a session that is somebody else's next: a transaction on another connection holds the lock. */
    private @Nullable String behindPooler(Migration next) throws SQLException {
        try (Connection other = Backend.preparingNothing(more.connect())) {
            MigrationSession guard = new MigrationSession(other);
            other.setAutoCommit(false);
            try {
                if (!guard.lockForTransaction()) return guard.lockHolder();
                // After the lock, for it also ends the snapshot of the statement before: an index build waits for every
                // older one.
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
            if (index.isPresent()) buildBesideWriters(index.get());
            if (SqlScript.concurrent(statement)) session.execute(statement);
            else shortly(statement);
        }
        session.execute(next.entry());
        log.info("migration applied file={}", next.file());
    }

    /** PostgreSQL cannot build the index of a partitioned table beside writers, but it takes over indexes that its partitions have already. */
    private void buildBesideWriters(SqlScript.Index index) throws SQLException {
        for (String partition : session.list(WITHOUT_INDEX.formatted(index.table(), index.name()))) {
            String name = partition + "_" + index.name();
            try {
                session.execute("DROP INDEX CONCURRENTLY IF EXISTS carillon." + name);
                session.execute("CREATE INDEX CONCURRENTLY " + name + " ON carillon." + partition + " " + index.rest());
            } catch (SQLException e) {
                // Retention removed the partition meanwhile.
                if (!NO_SUCH_TABLE.equals(e.getSQLState())) throw e;
            }
        }
    }

    /**
     * One statement in a transaction of its own. It waits for its lock two seconds at most, because all who come later wait behind it, and tries again: a lock
     * on a busy table is held for the statement alone, and never while another one is waited for.
     */
    private void shortly(String statement) throws SQLException {
        Patience patience = new Patience(atMost);
        while (!tried(statement, patience)) patience.pause();
    }

    private boolean tried(String statement, Patience patience) throws SQLException {
        connection.setAutoCommit(false);
        try {
            session.execute(PREPARE);
            session.execute(statement);
            connection.commit();
            return true;
        } catch (SQLException e) {
            if (!PASSING.contains(e.getSQLState()) || patience.exhausted()) throw e;
            log.debug("migration statement waits obstacle={}", MigrationSession.firstLine(e));
            return false;
        } finally {
            MigrationSession.quietly(session::endTransaction);
        }
    }

    private CarillonException gaveUp(Migration next, String obstacle) {
        return new CarillonException(
                ErrorCode.STORAGE,
                "Migration %s did not get its turn within %s: %s. Nothing of it remains. If another process is still migrating, start again when it is done; else end what holds the lock (see pg_stat_activity) or give Migrator.patience more time."
                        .formatted(next.file(), atMost, obstacle));
    }

    private CarillonException lacksRights(Migration next, SQLException e) throws SQLException {
        String user = connection.getMetaData().getUserName();
        return new CarillonException(
                ErrorCode.UNSUITABLE_DATA_SOURCE,
                "The database user %s may not apply migration %s: %s. Let an administrator run CREATE SCHEMA carillon AUTHORIZATION %s (no right on the database is needed then), or apply the SQL of Migrator.print(%d) as the owner and start with SchemaMode.VALIDATE."
                        .formatted(user, next.file(), MigrationSession.firstLine(e), user, next.number()),
                e);
    }

    private static CarillonException broken(Migration next, SQLException e) {
        String left = next.transactional()
                ? "Nothing of it remains"
                : "It runs outside a transaction and starts over with the next attempt";
        return new CarillonException(
                ErrorCode.STORAGE,
                "Migration %s failed: %s. %s. Remove the cause and start again."
                        .formatted(next.file(), MigrationSession.firstLine(e), left),
                e);
    }
}
