package io.carillon.event;

import java.util.List;
import java.util.Optional;

/** The relays of one project. */
public interface Relays {
    /** Returns the relays, by name: the first 1,000. */
    default List<Relay> list() {
        return list("", 1_000);
    }

    /** Returns the relays whose name follows this one, by name, at most {@code limit} (1 to 1,000). */
    List<Relay> list(String after, int limit);

    /** Returns a relay; empty if there is none with this name. */
    Optional<Relay> get(String relay);

    /** Returns the events that the destination of a relay has rejected, the oldest first, at most {@code limit}. */
    List<Relay.Rejected> rejected(String relay, int limit);

    /**
     * Sends a rejected event again, then the events that wait behind it. For events that the destination accepts now,
     * such as after its limit was raised. Returns false if the event is not among the rejected ones.
     */
    boolean retry(String relay, EventId event);

    /**
     * Never sends a rejected event, and sends the events that wait behind it. Returns false if the event is not among
     * the rejected ones.
     */
    boolean skip(String relay, EventId event);

    /**
     * Removes a relay with its cursor and its rejected events. First stop declaring it: a node that still declares it
     * adds it again when it starts.
     */
    boolean remove(String relay);
}
