package io.carillon.workflow;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.run.CancelResult;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import java.util.Optional;

/**
 * A workflow, named by its type and id or by its run. Each call reads the current state; creating a handle reads
 * nothing.
 */
public interface WorkflowHandle {
    /**
     * Returns the id of the run.
     *
     * @throws CarillonException with {@link ErrorCode#UNKNOWN_RUN} if no workflow of the type has the id, or no longer
     */
    RunId run();

    /** Returns the run with its state; empty if it does not exist or retention has removed it. */
    Optional<Run> get();

    /** Returns the result, decoded as this type; empty if the workflow has not succeeded or has no result. */
    <R> Optional<R> result(Class<R> type);

    /** Cancels the workflow. One that waits ends immediately; a step that is being executed is asked to stop. */
    CancelResult cancel();

    /** Like {@link #cancel()}, but with a reason that is kept in the history of the run. */
    CancelResult cancel(String reason);

    /**
     * Sends a signal. It is kept until an {@link Flow#await} takes it, or the workflow ends. Signals of one name are
     * taken in the order in which they were sent. A value that is a {@link io.carillon.run.Payload} is encoded already.
     *
     * @throws CarillonException with {@link ErrorCode#UNKNOWN_RUN} if the workflow does not exist or has ended
     */
    <T> SendResult signal(Signal<T> signal, T value);

    /** Like {@link #signal(Signal, Object)}, but stores nothing if the workflow already has a signal with this id. */
    <T> SendResult signal(Signal<T> signal, T value, Send send);
}
