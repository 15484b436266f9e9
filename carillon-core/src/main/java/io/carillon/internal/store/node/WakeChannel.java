package io.carillon.internal.store.node;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The channel by which nodes notify each other. A lost hint costs latency until the next poll, never
 * a run.
 */
public interface WakeChannel {
    /** Sends hints to all nodes. */
    void send(List<Hint> hints);

    /**
     * Opens a subscription on its own connection. Returns empty if LISTEN cannot work, because a pooler gives each
     * transaction another session.
     */
    Optional<Subscription> listen();

    /** An open subscription. Closing it ends LISTEN on its connection. */
    interface Subscription extends AutoCloseable {
        /**
         * Waits for hints, at most the given time. Returns an empty list if none arrived. Throws if the
         * connection is lost.
         */
        List<Hint> await(Duration atMost);

        @Override
        void close();
    }
}
