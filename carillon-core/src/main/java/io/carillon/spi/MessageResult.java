package io.carillon.spi;

import java.time.Duration;

/** What a consumer has to do with a message that names a run, after {@code Carillon.consume}. */
public sealed interface MessageResult {
    /** The message is done. Remove it from its queue. */
    record Acknowledge() implements MessageResult {}

    /** The run could not be executed now. Deliver the message again after the delay. */
    record Retry(Duration delay) implements MessageResult {}

    /**
     * The message is invalid, and will be so each time. Remove it from its queue, or keep it where operators find it.
     *
     * @param reason why, in words
     */
    record GiveUp(String reason) implements MessageResult {}
}
