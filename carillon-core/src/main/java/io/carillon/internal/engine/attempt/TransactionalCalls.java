package io.carillon.internal.engine.attempt;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.run.EndedAttempt;
import io.carillon.internal.store.run.RunStore;
import io.carillon.run.Outcome;
import io.carillon.run.Payload;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls handlers whose writes commit together with the run's completion. The completion is written on the same
 * connection, with the fence, just before the commit. If the lease was lost, the transaction is rolled back
 * and neither remains.
 */
public final class TransactionalCalls {
    private static final Logger log = LoggerFactory.getLogger(TransactionalCalls.class);

    /** The delay before a run is tried again whose handler could not start because no connection was available. */
    public static final Duration RETRY = Duration.ofSeconds(5);

    private final HandlerConnections connections;
    private final RunStore runs;
    private final Semaphore slots;
    private final Set<ActiveAttempt> committed = ConcurrentHashMap.newKeySet();

    public TransactionalCalls(HandlerConnections connections, RunStore runs, int max) {
        this.connections = connections;
        this.runs = runs;
        this.slots = new Semaphore(max);
    }

    /** Work in a transaction, which the work commits. What it does not commit is rolled back. */
    @FunctionalInterface
    public interface TransactionWork<T> {
        T run(Connection connection) throws Exception;
    }

    /** No connection was available, so the work did not start. */
    public static final class NoConnectionException extends Exception {
        private static final long serialVersionUID = 1;

        private NoConnectionException(SQLException cause) {
            super(cause);
        }
    }

    /**
     * Calls the handler. The timeout starts when a slot and a connection are available. Without a connection the
     * handler does not start, and the run is snoozed without counting a failure.
     */
    Outcome call(ActiveAttempt activeAttempt, BoundHandler handler) throws Exception {
        activeAttempt.attachThread();
        try {
            return inTransaction(connection -> {
                activeAttempt.begin(handler.timeout());
                if (activeAttempt.stopCause() != null) return Outcome.snoozed(Duration.ZERO);
                Outcome outcome = handler.call().run(activeAttempt.attemptValue(), activeAttempt, connection);
                if (outcome instanceof Outcome.Succeeded succeeded)
                    commit(connection, activeAttempt, succeeded, handler.keepPayload());
                else connection.rollback();
                return outcome;
            });
        } catch (NoConnectionException failure) {
            log.warn("no connection for a transactional handler; will retry run={}", activeAttempt.id(), failure);
            return Outcome.snoozed(RETRY);
        }
    }

    /** Waits for a slot, and does the work with a connection of the user's data source. */
    public <T> T inTransaction(TransactionWork<T> work) throws Exception {
        slots.acquire();
        try (Connection connection = open()) {
            try {
                return work.run(connection);
            } catch (Throwable failure) {
                rollBack(connection, failure);
                throw failure;
            } finally {
                if (!connection.isClosed()) connection.setAutoCommit(true);
            }
        } finally {
            slots.release();
        }
    }

    private Connection open() throws NoConnectionException {
        try {
            Connection opened = connections.open();
            opened.setAutoCommit(false);
            return opened;
        } catch (SQLException failure) {
            throw new NoConnectionException(failure);
        }
    }

    private void commit(
            Connection connection, ActiveAttempt activeAttempt, Outcome.Succeeded succeeded, boolean keepPayload)
            throws SQLException {
        Payload result = succeeded.result() instanceof Payload payload ? payload : null;
        EndedAttempt endedAttempt = activeAttempt.toEndedAttempt(new Transition.Complete(result), keepPayload);
        // From here to the commit, no interrupt may reach the JDBC driver.
        activeAttempt.detachThread();
        if (!runs.applyIn(connection, activeAttempt.owner(), endedAttempt))
            throw new CarillonException(
                    ErrorCode.LEASE_LOST,
                    "Run %s was taken over by another node; this attempt's transaction was rolled back."
                            .formatted(activeAttempt.id()));
        connection.commit();
        committed.add(activeAttempt);
    }

    /** Returns whether the handler's transaction has already written the completion. Returns true once per attempt. */
    boolean takeCommitted(ActiveAttempt activeAttempt) {
        return committed.remove(activeAttempt);
    }

    private static void rollBack(Connection connection, Throwable failure) {
        try {
            connection.rollback();
        } catch (SQLException alsoBroken) {
            failure.addSuppressed(alsoBroken);
        }
    }
}
