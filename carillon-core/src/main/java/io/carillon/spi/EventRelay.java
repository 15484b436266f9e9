package io.carillon.spi;

import io.carillon.event.Event;
import io.carillon.event.Subscribe;
import io.carillon.event.Topic;
import io.carillon.run.Payload;
import java.util.List;
import java.util.Optional;

/**
 * Sends the events of a topic to a destination outside of the database, such as Kafka. One node of the cluster at a
 * time has the lease of a relay and sends, in the order of all consumers. When it dies, another node continues.
 */
public interface EventRelay {
    /** What happens to later events of a key when the destination rejects one of its events. */
    enum Rejection {
        /** They wait until an operator decides about the rejected event. Other keys continue. */
        BLOCK_KEY,
        /** They are sent. Only the rejected event waits for an operator. */
        CONTINUE_KEY
    }

    /** Returns the name, which is unique in the project. */
    String name();

    /** Returns the topic whose events are sent. */
    Topic topic();

    /** Returns a text for operators, such as {@code kafka:orders}. It contains no secret. */
    String destination();

    /** Returns what a rejected event means for later events of its key. Events without a key hold back nothing. */
    default Rejection rejection() {
        return Rejection.BLOCK_KEY;
    }

    /** Returns where a new relay starts. An existing relay continues at its cursor. */
    default Subscribe.Start start() {
        return new Subscribe.Start.Now();
    }

    /**
     * Opens a sender. Called on a thread of this relay after this node has got the lease, and again after a failure.
     * After it returns, no earlier sender of this relay on any node can complete a {@code send}.
     */
    Sender open(String project) throws Exception;

    /** A connection to the destination. One thread uses it. */
    interface Sender extends AutoCloseable {
        /**
         * Returns the mark of the last batch that the destination has accepted, if it stores marks together with the
         * events. Then an event is not sent twice after a failure. Otherwise it can be.
         */
        Optional<String> lastMark() throws Exception;

        /**
         * Sends all events of a batch in this order, or none, and returns when the destination has accepted them. After
         * an exception other than {@link EventRejectedException}, the sender is closed and another one opened.
         */
        void send(Batch batch) throws Exception;

        /** Closes the connection without a long wait. */
        @Override
        void close();
    }

    /**
     * Events to be sent together.
     *
     * @param mark a text of at most 300 characters without meaning for the destination
     */
    record Batch(String project, List<Event<Payload>> events, String mark) {
        public Batch {
            events = List.copyOf(events);
        }
    }

    /** The destination will not accept an event, however often it is sent: it is too large, or invalid. */
    final class EventRejectedException extends Exception {
        private static final long serialVersionUID = 1L;

        private final int index;

        /**
         * @param index the first event in the batch that may be the rejected one; all events before it are acceptable
         * @param reason what is wrong with it
         */
        public EventRejectedException(int index, String reason) {
            super(reason);
            this.index = index;
        }

        /** Returns the first event in the batch that may be the rejected one. */
        public int index() {
            return index;
        }
    }
}
