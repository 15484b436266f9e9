package io.carillon.postgres;

import io.carillon.postgres.backend.Backend;
import io.carillon.value.DatabaseClock;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Borrows a connection for one statement or one short transaction and bounds both in time. Nothing is set on the session itself: connections go back to
 * the user's pool, or to a PgBouncer, as they came.
 */
final class Database {
    private static final int REPEATS = 5;
    /** How much longer than its statement's limit a server may take to answer, if only to say that the time is over. */
    private static final int SILENT_SECONDS = 3;

    private static final Executor SAME_THREAD = Runnable::run;

    private static final String BOUND_TRANSACTION = """
            SELECT set_config('statement_timeout', :limit || 's', true), set_config('lock_timeout', '2s', true),
                   set_config('idle_in_transaction_session_timeout', '5s', true)
            """;

    private static final String CLOCK = "SELECT carillon.clock() AS now";

    private final ConnectionSource source;
    private final int statementSeconds;
    private final boolean prepares;
    private final @Nullable Connection joined;
    private final DatabaseClock clock;

    /** {@code prepares}: whether the driver may prepare statements on the server. */
    Database(ConnectionSource source, Duration statementTimeout, boolean prepares) {
        this(source, statementTimeout, prepares, new DatabaseClock());
    }

    private Database(ConnectionSource source, Duration statementTimeout, boolean prepares, DatabaseClock clock) {
        this.source = source;
        this.statementSeconds = (int) statementTimeout.toSeconds();
        this.prepares = prepares;
        this.joined = null;
        this.clock = clock;
    }

    private Database(Connection caller, boolean prepares, DatabaseClock clock) {
        this.source = ConnectionSource.none();
        this.statementSeconds = 0;
        this.prepares = prepares;
        this.joined = caller;
        this.clock = clock;
    }

    /** The same database on other connections or with another time limit. */
    Database with(ConnectionSource other, Duration statementTimeout) {
        return new Database(other, statementTimeout, prepares, clock);
    }

    /** Everything happens in the transaction that is open on this connection; it begins, ends and is bounded in time by the caller. */
    Database within(Connection caller) {
        return new Database(caller, prepares, clock);
    }

    /** Returns whether everything happens in a transaction of the caller. */
    boolean joins() {
        return joined != null;
    }

    /** On a connection of the caller's, whose limits are the caller's. */
    Session on(Connection caller) throws SQLException {
        if (!prepares) Backend.preparingNothing(caller);
        return new Session(caller, 0);
    }

    /** Work on a connection. */
    @FunctionalInterface
    interface Work<T> {
        T on(Session session) throws SQLException;
    }

    /** One autocommit statement (or several that need no common fate). */
    <T> T single(Work<T> work) {
        Connection caller = joined;
        if (caller != null) return joining(caller, work);
        return repeating(() -> on(true, connection -> {
            Session session = new Session(connection, statementSeconds);
            T result = work.on(session);
            // Afterwards, and only now and then: what was asked for waits for nothing, and its failures are its own.
            if (clock.stale()) readClock(session);
            return result;
        }));
    }

    private void observe(Session session) throws SQLException {
        long sent = System.nanoTime();
        session.query(CLOCK).first(row -> row.instant("now")).ifPresent(now -> clock.observe(now, sent));
    }

    private void readClock(Session session) {
        try {
            observe(session);
        } catch (SQLException unread) {
            // The estimate goes on; the next statement on this connection finds out what is wrong.
        }
    }

    /** What this process knows of the database's time. */
    DatabaseClock clock() {
        return clock;
    }

    /** A short transaction with its own time limits; committed when the work returns, rolled back when it throws. */
    <T> T transaction(Work<T> work) {
        Connection caller = joined;
        if (caller != null) return joining(caller, work);
        return repeating(() -> on(false, connection -> {
            try {
                Session session = new Session(connection, statementSeconds);
                session.query(BOUND_TRANSACTION)
                        .text("limit", Integer.toString(statementSeconds))
                        .list(row -> row);
                T result = work.on(session);
                connection.commit();
                return result;
            } catch (SQLException | RuntimeException | Error failure) {
                rollBack(connection, failure);
                throw failure;
            }
        }));
    }

    private <T> T joining(Connection caller, Work<T> work) {
        try {
            Session session = on(caller);
            if (clock.stale()) observe(session);
            return work.on(session);
        } catch (SQLException failure) {
            throw new StorageException(failure);
        }
    }

    /** Work whose failure somebody catches: what it did of a caller's transaction is undone, and the rest can go on. */
    <T> T attempt(Supplier<T> work) {
        Connection caller = joined;
        if (caller == null) return work.get();
        return joining(caller, session -> {
            Savepoint before = caller.setSavepoint();
            try {
                T result = work.get();
                caller.releaseSavepoint(before);
                return result;
            } catch (RuntimeException | Error failure) {
                undo(caller, before, failure);
                throw failure;
            }
        });
    }

    private static void undo(Connection caller, Savepoint before, Throwable failure) {
        try {
            caller.rollback(before);
        } catch (SQLException alsoBroken) {
            failure.addSuppressed(alsoBroken);
        }
    }

    private interface OnConnection<T> {
        T apply(Connection connection) throws SQLException;
    }

    private <T> T on(boolean autoCommit, OnConnection<T> work) throws SQLException {
        Connection connection = source.borrow();
        boolean fine = false;
        @Nullable Manners before = null;
        try {
            if (!prepares) Backend.preparingNothing(connection);
            before = new Manners(connection.getAutoCommit(), connection.getNetworkTimeout());
            if (connection.getAutoCommit() != autoCommit) connection.setAutoCommit(autoCommit);
            // The server may die without a word: no statement of ours waits on a silent socket for longer than this.
            connection.setNetworkTimeout(SAME_THREAD, (statementSeconds + SILENT_SECONDS) * 1000);
            T result = work.apply(connection);
            fine = true;
            return result;
        } finally {
            if (before != null) before.restore(connection);
            source.giveBack(connection, fine);
        }
    }

    /** How a connection came; not every pool puts that right by itself. */
    private record Manners(boolean autoCommit, int networkTimeout) {
        void restore(Connection connection) {
            try {
                if (connection.isClosed()) return;
                connection.setNetworkTimeout(SAME_THREAD, networkTimeout);
                if (connection.getAutoCommit() != autoCommit) connection.setAutoCommit(autoCommit);
            } catch (SQLException broken) {
                // The connection is gone; its pool finds out when it is returned.
            }
        }
    }

    private static void rollBack(Connection connection, Throwable failure) {
        try {
            connection.rollback();
        } catch (SQLException alsoBroken) {
            failure.addSuppressed(alsoBroken);
        }
    }

    private interface Try<T> {
        T run() throws SQLException;
    }

    private static <T> T repeating(Try<T> attempt) {
        for (int turn = 1; ; turn++) {
            try {
                return attempt.run();
            } catch (SQLException failure) {
                StorageException stored = new StorageException(failure);
                if (!stored.repeatable() || turn == REPEATS) throw stored;
                LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(turn * 5_000_000L));
            }
        }
    }
}
