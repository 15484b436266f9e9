package io.carillon.internal.store.event;

import io.carillon.event.Event;
import io.carillon.event.EventId;
import io.carillon.event.Relay;
import io.carillon.event.Subscribe;
import io.carillon.run.Payload;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The port of relays. The node with the lease sends; all of its writes are guarded by the epoch of the lease, so a node
 * that has lost the lease writes nothing.
 */
public interface RelayStore {
    /** The name of a relay in its project. */
    record Name(String project, String name) {}

    /** What a process declares about a relay. */
    record Declaration(Name name, String topic, String destination, Subscribe.Start start) {}

    /** Creates a relay, or changes topic and destination. */
    void declare(Declaration declaration);

    /** The right to send, until another node gets the lease with a larger epoch. */
    record Lease(Name name, long epoch) {}

    /** Extends the leases of this node and takes those that have ended. Returns the leases that this node has. */
    List<Lease> lease(UUID node, Collection<Name> wanted, Duration duration);

    /** Ends the leases of this node. */
    void release(UUID node, Collection<Name> relays);

    /**
     * The cursor of a relay.
     *
     * @param start where to read: the cursor, or the oldest snapshot if retention has removed that of the cursor
     * @param latest the last snapshot
     * @param decided whether an operator has decided about a rejected event
     * @param blockedKeys the keys whose events wait, up to {@link #MAX_BLOCKED_KEYS} and one more
     */
    record State(EventPosition cursor, EventPosition start, long latest, boolean decided, Set<String> blockedKeys) {
        public State {
            blockedKeys = Set.copyOf(blockedKeys);
        }
    }

    /** With more blocked keys, a relay stops. */
    int MAX_BLOCKED_KEYS = 1_000;

    /** Returns the state of a relay; empty if this lease was lost. */
    Optional<State> state(Lease lease);

    /** An event and its position. */
    record Positioned(EventPosition position, Event<Payload> event) {}

    /** Events to be read: behind a position, up to a snapshot, until one of the limits is reached. */
    record Window(EventPosition after, long last, int maxEvents, long maxBytes) {}

    /** Returns events of a topic in their order. At least one is returned if there is any, whatever its size. */
    List<Positioned> read(String project, String topic, Window window);

    /** An event that is not sent. The reason is null if it waits behind another one. */
    record HeldEvent(
            EventPosition position,
            EventId event,
            @Nullable String key,
            boolean blocks,
            @Nullable String reason) {}

    /**
     * Moves the cursor and stores which of the passed events are held. Returns false if the lease was lost, or the
     * cursor was not at {@code from}.
     *
     * @param sent how many of the passed events were sent
     */
    record Advance(EventPosition from, EventPosition to, long sent, List<HeldEvent> held) {
        public Advance {
            held = List.copyOf(held);
        }
    }

    boolean advance(Lease lease, Advance advance);

    /** Stores why sending fails, or that it works again. */
    void report(Lease lease, @Nullable String error);

    /**
     * Events that an operator has decided about, and those that wait behind them.
     *
     * @param rows the positions of these events, the first one is that about which the operator has decided
     * @param events the events to be sent; those that are skipped, or that retention has removed, are missing
     * @param next the position of the event of this key that waits behind them; null if there is none
     */
    record Decided(
            List<EventPosition> rows,
            List<Positioned> events,
            @Nullable EventPosition next) {
        public Decided {
            rows = List.copyOf(rows);
            events = List.copyOf(events);
        }
    }

    /**
     * Returns an event about which an operator has decided, with events that wait behind it: the event at this
     * position, or the first one.
     */
    Optional<Decided> decided(Lease lease, @Nullable EventPosition at, int maxEvents, long maxBytes);

    /** Removes held events that were sent or skipped. The event at {@code next} is the next to be sent. */
    void removeHeld(Lease lease, List<EventPosition> rows, @Nullable EventPosition next, long sent);

    /** Stores that the destination has rejected an event again about which an operator has decided. */
    void rejectAgain(Lease lease, EventPosition position, String reason);

    /** Returns the relays of a project whose name follows this one, by name. */
    List<Relay> list(String project, String after, int limit);

    /** Returns a relay; empty if there is none with this name. */
    Optional<Relay> find(Name relay);

    /** A relay of any project. */
    record Figures(Name name, Relay relay) {}

    /** Returns the relays of all projects, at most 500. */
    List<Figures> figures();

    /** Returns the rejected events of a relay. */
    List<Relay.Rejected> rejected(Name relay, int limit);

    /** Stores the decision of an operator about a rejected event. */
    boolean decide(Name relay, EventId event, boolean retry);

    boolean remove(Name relay);

    /** A relay that needs attention. */
    record Issue(
            Name name,
            String topic,
            boolean withoutNode,
            @Nullable Instant failingSince,
            @Nullable String error,
            @Nullable Instant oldest,
            boolean rejected) {}

    /** Returns relays without a lease, that fail, whose oldest event is older than {@code age}, or with rejections. */
    List<Issue> issues(Duration age);
}
