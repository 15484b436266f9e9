package io.carillon.internal.jdbc;

import io.carillon.internal.value.DatabaseClock;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A database on which each statement or short transaction borrows a connection and is limited in time. Nothing is set
 * on the session itself: connections return unchanged to the user's pool, or to PgBouncer.
 */
public final class Database {
    private static final int MAX_TRIES = 5;
    /**
     * The seconds that a server may take to answer beyond the statement timeout, even if it only reports the timeout.
     */
    private static final int NETWORK_MARGIN_SECONDS = 3;

    private static final Executor SAME_THREAD = Runnable::run;

    private static final String SET_TRANSACTION_TIMEOUTS = """
            SELECT set_config('statement_timeout', :limit || 's', true), set_config('lock_timeout', '2s', true),
                   set_config('idle_in_transaction_session_timeout', '5s', true)
            """;

    private static final String CLOCK = "SELECT carillon.clock() AS now";

    private final ConnectionSource source;
    private final int statementSeconds;
    private final boolean preparesOnServer;
    private final @Nullable Connection callerConnection;
    private final Consumer<Runnable> afterCallersCommit;
    private final DatabaseClock clock;

    /** {@code prepares} says whether the driver may prepare statements on the server. */
    public Database(ConnectionSource source, Duration statementTimeout, boolean prepares) {
        this(source, statementTimeout, prepares, new DatabaseClock());
    }

    private Database(ConnectionSource source, Duration statementTimeout, boolean prepares, DatabaseClock clock) {
        this.source = source;
        this.statementSeconds = (int) statementTimeout.toSeconds();
        this.preparesOnServer = prepares;
        this.callerConnection = null;
        this.afterCallersCommit = task -> {};
        this.clock = clock;
    }

    private Database(Connection caller, boolean prepares, DatabaseClock clock, Consumer<Runnable> afterCallersCommit) {
        this.source = ConnectionSource.none();
        this.statementSeconds = 0;
        this.preparesOnServer = prepares;
        this.callerConnection = caller;
        this.afterCallersCommit = afterCallersCommit;
        this.clock = clock;
    }

    /** Returns the same database with other connections and another statement timeout. */
    public Database with(ConnectionSource other, Duration statementTimeout) {
        return new Database(other, statementTimeout, preparesOnServer, clock);
    }

    /**
     * Returns the same database inside the transaction that is open on this connection. The caller begins it, ends it
     * and limits its time.
     *
     * @param afterCommit receives what the caller runs after the commit
     */
    public Database within(Connection caller, Consumer<Runnable> afterCommit) {
        return new Database(caller, preparesOnServer, clock, afterCommit);
    }

    /** Returns whether all work happens in the caller's transaction. */
    public boolean isInCallerTransaction() {
        return callerConnection != null;
    }

    /** Runs a task now or, in the caller's transaction, lets the caller run it after the commit. */
    public void afterCommit(Runnable task) {
        if (callerConnection == null) task.run();
        else afterCallersCommit.accept(task);
    }

    /** Returns a session on the caller's connection, whose time limits are the caller's. */
    public Session on(Connection caller) throws SQLException {
        if (!preparesOnServer) Backend.disableServerPrepare(caller);
        return new Session(caller, 0, afterCallersCommit);
    }

    /** Work on a connection. */
    @FunctionalInterface
    public interface SessionWork<T> {
        T run(Session session) throws SQLException;
    }

    /** Runs one autocommit statement, or several that need not be atomic. */
    public <T> T single(SessionWork<T> sessionWork) {
        Connection caller = callerConnection;
        if (caller != null) return inCallerTransaction(caller, sessionWork);
        return retrying(() -> on(true, connection -> {
            Session session = new Session(connection, statementSeconds, Runnable::run);
            T result = sessionWork.run(session);
            // The clock is read afterwards and only from time to time: the caller's statement does not wait for it, and
            // its failures are its own.
            if (clock.isStale()) tryObserveClock(session);
            return result;
        }));
    }

    private void observeClock(Session session) throws SQLException {
        long sent = System.nanoTime();
        session.query(CLOCK).first(row -> row.instant("now")).ifPresent(now -> clock.observe(now, sent));
    }

    private void tryObserveClock(Session session) {
        try {
            observeClock(session);
        } catch (SQLException unread) {
            // The estimate stays in use; the next statement on this connection reports the failure.
        }
    }

    /** Returns this process's estimate of the database clock. */
    public DatabaseClock clock() {
        return clock;
    }

    /**
     * Runs a short transaction with its own timeouts. It is committed when the work returns and rolled back
     * when it throws.
     */
    public <T> T transaction(SessionWork<T> sessionWork) {
        return transaction(
                session -> session.query(SET_TRANSACTION_TIMEOUTS)
                        .text("limit", Integer.toString(statementSeconds))
                        .list(row -> row),
                sessionWork);
    }

    /**
     * Like {@link #transaction(SessionWork)}, but {@code begin} is the first work of the transaction and sets the
     * timeouts, and what else applies until its end, such as the role.
     */
    public <T> T transaction(SessionWork<?> begin, SessionWork<T> sessionWork) {
        Connection caller = callerConnection;
        if (caller != null) return inCallerTransaction(caller, sessionWork);
        return retrying(() -> on(false, connection -> {
            try {
                List<Runnable> after = new ArrayList<>();
                Session session = new Session(connection, statementSeconds, after::add);
                begin.run(session);
                T result = sessionWork.run(session);
                connection.commit();
                after.forEach(Runnable::run);
                return result;
            } catch (SQLException | RuntimeException | Error failure) {
                rollBack(connection, failure);
                throw failure;
            }
        }));
    }

    private <T> T inCallerTransaction(Connection caller, SessionWork<T> sessionWork) {
        try {
            Session session = on(caller);
            if (clock.isStale()) observeClock(session);
            return sessionWork.run(session);
        } catch (SQLException failure) {
            throw new StorageException(failure);
        }
    }

    /**
     * Runs work whose failure the calling code catches: a savepoint undoes its part of the caller's transaction, and
     * the rest can continue.
     */
    public <T> T withSavepoint(Supplier<T> work) {
        Connection caller = callerConnection;
        if (caller == null) return work.get();
        return inCallerTransaction(caller, session -> {
            Savepoint before = caller.setSavepoint();
            try {
                T result = work.get();
                caller.releaseSavepoint(before);
                return result;
            } catch (RuntimeException | Error failure) {
                rollBackTo(caller, before, failure);
                throw failure;
            }
        });
    }

    private static void rollBackTo(Connection caller, Savepoint before, Throwable failure) {
        try {
            caller.rollback(before);
        } catch (SQLException alsoBroken) {
            failure.addSuppressed(alsoBroken);
        }
    }

    private interface ConnectionWork<T> {
        T apply(Connection connection) throws SQLException;
    }

    private <T> T on(boolean autoCommit, ConnectionWork<T> work) throws SQLException {
        Connection connection = source.borrow();
        boolean succeeded = false;
        @Nullable ConnectionSettings before = null;
        try {
            if (!preparesOnServer) Backend.disableServerPrepare(connection);
            before = new ConnectionSettings(connection.getAutoCommit(), connection.getNetworkTimeout());
            if (connection.getAutoCommit() != autoCommit) connection.setAutoCommit(autoCommit);
            // The server may disappear without closing the socket: no statement waits longer than this for an answer.
            connection.setNetworkTimeout(SAME_THREAD, (statementSeconds + NETWORK_MARGIN_SECONDS) * 1000);
            T result = work.apply(connection);
            succeeded = true;
            return result;
        } finally {
            if (before != null) before.restore(connection);
            source.giveBack(connection, succeeded);
        }
    }

    /** The settings of a connection when it was borrowed; not every pool restores them. */
    private record ConnectionSettings(boolean autoCommit, int networkTimeout) {
        void restore(Connection connection) {
            try {
                if (connection.isClosed()) return;
                connection.setNetworkTimeout(SAME_THREAD, networkTimeout);
                if (connection.getAutoCommit() != autoCommit) connection.setAutoCommit(autoCommit);
            } catch (SQLException broken) {
                // The connection is broken; its pool finds out when it is returned.
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

    private interface SqlCall<T> {
        T run() throws SQLException;
    }

    private static <T> T retrying(SqlCall<T> call) {
        for (int tries = 1; ; tries++) {
            try {
                return call.run();
            } catch (SQLException failure) {
                StorageException storageFailure = new StorageException(failure);
                if (!storageFailure.isRetryable() || tries == MAX_TRIES) throw storageFailure;
            } catch (StorageException failure) {
                // The work called a repository that uses the connection of this transaction.
                if (!failure.isRetryable() || tries == MAX_TRIES) throw failure;
            }
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(tries * 5_000_000L));
        }
    }
}
