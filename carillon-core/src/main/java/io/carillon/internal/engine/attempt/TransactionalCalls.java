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
    private static final Duration RETRY = Duration.ofSeconds(5);

    private final HandlerConnections connections;
    private final RunStore runs;
    private final Semaphore slots;
    private final Set<ActiveAttempt> committed = ConcurrentHashMap.newKeySet();

    public TransactionalCalls(HandlerConnections connections, RunStore runs, int max) {
        this.connections = connections;
        this.runs = runs;
        this.slots = new Semaphore(max);
    }

    /**
     * Calls the handler. The timeout starts when a slot and a connection are available. Without a connection the
     * handler does not start, and the run is snoozed without counting a failure.
     */
    Outcome call(ActiveAttempt activeAttempt, BoundHandler handler) throws Exception {
        activeAttempt.attachThread();
        slots.acquire();
        try {
            Connection opened;
            try {
                opened = connections.open();
                opened.setAutoCommit(false);
            } catch (SQLException failure) {
                log.warn("no connection for a transactional handler; will retry run={}", activeAttempt.id(), failure);
                return Outcome.snoozed(RETRY);
            }
            return callInTransaction(opened, activeAttempt, handler);
        } finally {
            slots.release();
        }
    }

    private Outcome callInTransaction(Connection opened, ActiveAttempt activeAttempt, BoundHandler handler)
            throws Exception {
        try (Connection connection = opened) {
            activeAttempt.begin(handler.timeout());
            try {
                if (activeAttempt.stopCause() != null) return Outcome.snoozed(Duration.ZERO);
                Outcome outcome = handler.call().run(activeAttempt.attemptValue(), activeAttempt, connection);
                if (outcome instanceof Outcome.Succeeded succeeded)
                    commit(connection, activeAttempt, succeeded, handler.keepPayload());
                else connection.rollback();
                return outcome;
            } catch (Throwable failure) {
                rollBack(connection, failure);
                throw failure;
            } finally {
                if (!connection.isClosed()) connection.setAutoCommit(true);
            }
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
