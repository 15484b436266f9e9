package io.carillon.postgres.migration;

import io.carillon.postgres.backend.Backend;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
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

    private static final String LACKS_RIGHTS = "42501";
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
        for (String statement : SqlScript.statements(next.sql())) session.execute(statement);
        session.execute(next.entry());
        log.info("migration applied file={}", next.file());
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
