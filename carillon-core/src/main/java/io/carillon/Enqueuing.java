package io.carillon;

import io.carillon.run.Enqueue;
import io.carillon.run.EnqueueResult;
import io.carillon.run.HandlerType;
import java.util.Collection;
import java.util.List;

/** Storing runs: in a transaction of its own ({@link Carillon}) or in the caller's ({@link Carillon#in}). */
public interface Enqueuing {
    /** Stores a run that is due at once. */
    default <T> EnqueueResult enqueue(HandlerType<T> type, T payload) {
        return enqueue(type, payload, Enqueue.now());
    }

    /** Stores a run. */
    <T> EnqueueResult enqueue(HandlerType<T> type, T payload, Enqueue options);

    /** Stores many runs that are due at once; all or nothing, one answer each, in order. */
    default <T> List<EnqueueResult> enqueueAll(HandlerType<T> type, Collection<T> payloads) {
        return enqueueAll(type, payloads, Enqueue.now());
    }

    /** Stores many runs; all or nothing, one answer each, in order. */
    <T> List<EnqueueResult> enqueueAll(HandlerType<T> type, Collection<T> payloads, Enqueue options);
}
