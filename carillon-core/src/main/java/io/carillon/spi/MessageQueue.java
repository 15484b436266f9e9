package io.carillon.spi;

import java.time.Duration;
import java.util.List;

/**
 * A queue that you provide, from which {@code Carillon.consume} takes messages in batches. A message that is neither
 * acknowledged nor given up must be delivered again.
 */
public interface MessageQueue {
    /** Takes messages: waits until there is one, at most this long, and returns at most {@code max}. */
    List<Received> take(int max, Duration wait) throws InterruptedException;

    /** A message that was taken. One of the other methods is called once. */
    interface Received {
        /** Returns the text of the message. */
        String text();

        /** Removes the message. */
        void acknowledge();

        /** Delivers the message again after the delay. */
        void retry(Duration delay);

        /** Removes the message, or puts it aside. It is invalid for this reason. */
        void giveUp(String reason);
    }
}
