package io.carillon.store;

import io.carillon.run.Lane;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * A queue of yours (a broker, a cloud queue, a list in Redis) that carries hints to whoever consumes it. A message says where there is work, never what it is:
 * losing one costs a look, and receiving one twice costs an empty claim. May be called from several threads.
 */
public interface WakeTransport {
    /** The longest a message may wait before it is delivered; zero: this transport cannot wait. */
    Duration longestDelay();

    /** Sends a message that is delivered, to one consumer, after the delay. */
    void send(Message message, Duration delay);

    /** Hands each message to the consumer, on a thread of the transport's own, until the answer is closed. */
    AutoCloseable receive(Consumer<Message> consumer);

    /** Sends a hint if a message can wait that long; false: somebody has to look for it. */
    default boolean carries(Lane lane, Duration delay) {
        if (delay.compareTo(longestDelay()) > 0) return false;
        send(new Message(lane), delay);
        return true;
    }

    /** There is work in this lane. */
    record Message(Lane lane) {
        /** For the wire: the queue and the project, neither of which holds a space. */
        public String text() {
            return lane.queue() + " " + lane.project();
        }

        /** From the wire. */
        public static Message parse(String text) {
            int space = text.indexOf(' ');
            return new Message(new Lane(text.substring(0, Math.max(0, space)), text.substring(space + 1)));
        }
    }
}
