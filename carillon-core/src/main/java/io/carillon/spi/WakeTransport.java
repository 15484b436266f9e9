package io.carillon.spi;

import java.time.Duration;
import java.util.function.Consumer;

/**
 * A queue that you provide (a broker, a cloud queue, a list in Redis) to carry hints to its consumers. A message names
 * a queue of a project that has work, never the work: a lost message costs latency until the next poll, and a duplicate
 * costs an empty claim. May be called from several threads.
 */
public interface WakeTransport {
    /** Returns the longest delay that a message may have; zero if this transport cannot delay messages. */
    Duration longestDelay();

    /** Sends a message that one consumer receives after the delay. */
    void send(Message message, Duration delay);

    /** Passes each message to the consumer, on a thread of the transport, until the returned object is closed. */
    AutoCloseable receive(Consumer<Message> consumer);

    /**
     * Sends a message if the transport supports the delay. Returns false if it does not; then only a poll
     * finds the run.
     */
    default boolean trySend(Message message, Duration delay) {
        if (delay.compareTo(longestDelay()) > 0) return false;
        send(message, delay);
        return true;
    }

    /** A hint that a queue of a project has work. */
    record Message(String project, String queue) {
        /** Returns the text to send: the queue and the project, separated by a space. Neither contains a space. */
        public String text() {
            return queue + " " + project;
        }

        /** Parses a text made by {@link #text}. */
        public static Message parse(String text) {
            int space = text.indexOf(' ');
            return new Message(text.substring(space + 1), text.substring(0, Math.max(0, space)));
        }
    }
}
