package io.carillon.engine;

import io.carillon.run.Outcome;
import io.carillon.run.Payload;
import io.carillon.run.Transition;
import io.carillon.store.Ended;
import io.carillon.store.RunStore;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handlers whose writes commit with the run's completion. The completion is written on the same connection, fenced, just before the commit: if the lease was
 * lost, nothing of either remains.
 */
final class TransactionalCalls {
    private static final Logger log = LoggerFactory.getLogger(TransactionalCalls.class);

    /** How soon a run is tried again whose handler could not start for want of a connection. */
    private static final Duration RETRY = Duration.ofSeconds(5);

    private final EngineParts.Connections connections;
    private final RunStore runs;
    private final Semaphore slots;
    private final Set<Held> committed = ConcurrentHashMap.newKeySet();

    TransactionalCalls(EngineParts.Connections connections, RunStore runs, int most) {
        this.connections = connections;
        this.runs = runs;
        this.slots = new Semaphore(most);
    }

    /** The timeout starts when a slot and a connection are there. Without a connection the handler did not start: that is no failure of the run. */
    Outcome call(Held held, BoundHandler handler) throws Exception {
        held.attach();
        slots.acquire();
        try {
            Connection opened;
            try {
                opened = connections.open();
                opened.setAutoCommit(false);
            } catch (SQLException failure) {
                log.warn("no connection for a transactional handler, will retry run={}", held.id(), failure);
                return Outcome.snoozed(RETRY);
            }
            return inside(opened, held, handler);
        } finally {
            slots.release();
        }
    }

    private Outcome inside(Connection opened, Held held, BoundHandler handler) throws Exception {
        try (Connection connection = opened) {
            held.begin(handler.timeout());
            try {
                if (held.stopped() != null) return Outcome.snoozed(Duration.ZERO);
                Outcome outcome = handler.call().run(held.attemptValue(), held, connection);
                if (outcome instanceof Outcome.Succeeded succeeded)
                    commit(connection, held, succeeded, handler.keepPayload());
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

    private void commit(Connection connection, Held held, Outcome.Succeeded succeeded, boolean keepPayload)
            throws SQLException {
        Payload result = succeeded.result() instanceof Payload payload ? payload : null;
        Ended ended = held.ended(new Transition.Complete(result), keepPayload);
        // No interrupt may hit the driver between here and the commit.
        held.finish();
        if (!runs.applyIn(connection, held.owner(), ended))
            throw new CarillonException(
                    ErrorCode.LEASE_LOST,
                    "Run %s was taken over by another node; this attempt's transaction was rolled back."
                            .formatted(held.id()));
        connection.commit();
        committed.add(held);
    }

    /** Whether the completion is in the database already; asked once. */
    boolean committed(Held held) {
        return committed.remove(held);
    }

    private static void rollBack(Connection connection, Throwable failure) {
        try {
            connection.rollback();
        } catch (SQLException alsoBroken) {
            failure.addSuppressed(alsoBroken);
        }
    }
}
