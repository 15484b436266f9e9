package io.carillon.spi;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.run.RunId;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A queue that you provide (a broker, a cloud queue, a list in Redis) to carry hints to its consumers. A message names
 * a queue of a project that has work, and if so configured the run, never the work: a lost message costs latency until
 * the next poll, and a duplicate costs an empty claim. May be called from several threads.
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

    /**
     * A hint that a queue of a project has work.
     *
     * @param run the run to execute, if the messages name runs; otherwise null
     */
    record Message(String project, String queue, @Nullable RunRequest run) {
        /** Creates a hint that names no run. */
        public Message(String project, String queue) {
            this(project, queue, null);
        }

        /**
         * Returns the text to send: the queue and the project, and those of the run, if there is one: its id, the
         * attempt, the time in ISO 8601, and the authorization. They are separated by spaces, and contain none.
         */
        public String text() {
            String lane = queue + " " + project;
            return run == null
                    ? lane
                    : String.join(
                            " ",
                            lane,
                            run.run().toString(),
                            Integer.toString(run.attempt()),
                            run.sentAt().toString(),
                            run.authorization());
        }

        /**
         * Parses a text made by {@link #text}.
         *
         * @throws CarillonException if the text was not made by it
         */
        public static Message parse(String text) {
            String[] parts = text.split(" ", -1);
            try {
                if (parts.length == 2) return new Message(parts[1], parts[0]);
                if (parts.length == 6)
                    return new Message(
                            parts[1],
                            parts[0],
                            new RunRequest(
                                    RunId.parse(parts[2]),
                                    Integer.parseInt(parts[3]),
                                    Instant.parse(parts[4]),
                                    parts[5]));
            } catch (CarillonException | NumberFormatException | DateTimeParseException malformed) {
                // The error below does not contain the text, which may be of anyone.
            }
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "The text is no wake-up message. Pass the text that WakeTransport.send got from Message.text().");
        }
    }

    /**
     * A request to execute a run.
     *
     * @param attempt the number of the attempt that is expected; with a later one, the message is outdated
     * @param sentAt when the message was sent, by the clock of its sender
     * @param authorization proves that a process with the keys has made the message, and says until when it is valid
     */
    record RunRequest(RunId run, int attempt, Instant sentAt, String authorization) {}
}
