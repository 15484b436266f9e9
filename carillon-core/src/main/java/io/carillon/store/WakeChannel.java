package io.carillon.store;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The way nodes tell each other that something is to do. Hints only: losing one costs a poll, never a run. */
public interface WakeChannel {
    /** Sends signals to all nodes at once. */
    void send(List<Signal> signals);

    /** Opens an ear on a connection of its own; empty: nothing can be heard here, because a pooler gives each transaction another session. */
    Optional<Ear> listen();

    /** An open ear; closing it ends the connection's listening. */
    interface Ear extends AutoCloseable {
        /** Waits for signals up to a while; empty when none came. Throws when the connection is gone. */
        List<Signal> await(Duration atMost);

        @Override
        void close();
    }
}
