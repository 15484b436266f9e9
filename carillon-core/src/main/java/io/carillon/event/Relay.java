package io.carillon.event;

import java.time.Instant;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A stored relay, which sends the events of a topic to a destination outside of the database.
 *
 * @param destination where the events go, such as {@code kafka:orders}
 * @param node the node that sends; null if none does
 * @param position where it is in the order of all consumers: {@link Events#list} lists what is behind it
 * @param lag the events that are not sent yet, without those that are held
 * @param sent the number of events that were sent
 * @param failingSince since when sending fails; null if it does not
 * @param error why sending fails; null if it does not
 * @param rejected how many events the destination has rejected and no operator has decided about, up to
 *     {@link Subscription.Lag#MAX_COUNT}
 * @param waiting how many events wait behind a rejected event of their key, up to the same number
 */
public record Relay(
        String name,
        String topic,
        String destination,
        @Nullable UUID node,
        String position,
        Subscription.Lag lag,
        long sent,
        @Nullable Instant failingSince,
        @Nullable String error,
        long rejected,
        long waiting) {
    /** Whether a relay sends. */
    public enum State {
        /** A node has it, and the destination accepts events, except those that are rejected. */
        SENDING,
        /** A node has it, and the last attempt to send failed. */
        FAILING,
        /** No node has it: its events wait until a node that declares it starts. */
        WITHOUT_NODE;

        /** Returns the state as in REST, such as {@code without-node}. */
        public String text() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /** Returns whether the relay sends now. */
    public State state() {
        if (node == null) return State.WITHOUT_NODE;
        return failingSince == null ? State.SENDING : State.FAILING;
    }

    /**
     * An event that the destination of a relay has rejected.
     *
     * @param key null if the event has none
     * @param blocksKey whether later events of the key wait
     * @param reason what the destination has answered
     */
    public record Rejected(EventId event, @Nullable String key, boolean blocksKey, String reason, Instant rejectedAt) {}
}
