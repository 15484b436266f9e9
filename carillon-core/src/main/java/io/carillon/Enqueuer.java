package io.carillon;

import io.carillon.run.Enqueue;
import io.carillon.run.EnqueueResult;
import io.carillon.run.HandlerType;
import java.util.Collection;
import java.util.List;

/**
 * Stores runs, either in a transaction of its own ({@link Carillon}) or in the caller's
 * transaction ({@link Carillon#in}).
 */
public interface Enqueuer {
    /** Stores a run that is due immediately. */
    default <T> EnqueueResult enqueue(HandlerType<T> type, T payload) {
        return enqueue(type, payload, Enqueue.now());
    }

    /** Stores a run. The result is {@link EnqueueResult.Duplicate} if a run with the same unique key exists. */
    <T> EnqueueResult enqueue(HandlerType<T> type, T payload, Enqueue options);

    /** Stores runs that are due immediately. Stores all runs or none; returns one result per payload, in order. */
    default <T> List<EnqueueResult> enqueueAll(HandlerType<T> type, Collection<T> payloads) {
        return enqueueAll(type, payloads, Enqueue.now());
    }

    /** Stores runs with the same options. Stores all runs or none; returns one result per payload, in order. */
    <T> List<EnqueueResult> enqueueAll(HandlerType<T> type, Collection<T> payloads, Enqueue options);
}
