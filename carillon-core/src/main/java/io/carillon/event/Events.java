package io.carillon.event;

import io.carillon.run.Payload;
import io.carillon.run.Run;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The events and subscriptions of one project. An instance that is bound to a transaction publishes in that
 * transaction; its other methods read and write in it too.
 */
public interface Events {
    /** Stores an event. A version conflict is a result and not an exception. */
    PublishResult publish(NewEvent<?> event);

    /**
     * Stores events, all or none, in the given order. If the version of a key differs from the expected one, none is
     * stored, and each result is the conflict.
     */
    List<PublishResult> publishAll(Collection<? extends NewEvent<?>> events);

    /** Returns an event with its encoded data; empty if there is none, or retention has removed it. */
    Optional<Event<Payload>> get(EventId id);

    /**
     * Returns the events of a topic that follow {@code after} in the order of all consumers, at most {@code limit}
     * (1 to 1,000). An empty {@code after} starts with the oldest event. Events that committed within the last moments
     * appear once a node or a call of this method has given them a position.
     */
    default Page list(String topic, String after, int limit) {
        return list(EventFilter.topic(topic), after, limit);
    }

    /**
     * Returns the events that a filter selects, like {@link #list(String, String, int)}. One call examines a limited
     * number of events: a page may have fewer events than the limit, or none, and not be at the end.
     */
    Page list(EventFilter filter, String after, int limit);

    /**
     * A page of events.
     *
     * @param positions the position of each event: the value of {@code after} for a page that begins with the next one
     * @param next the value of {@code after} for the next page; it stays valid while its events are kept
     * @param atEnd whether no later event was found
     */
    record Page(List<Event<Payload>> events, List<String> positions, String next, boolean atEnd) {
        public Page {
            events = List.copyOf(events);
            positions = List.copyOf(positions);
        }
    }

    /**
     * Returns the newest events first, at most {@code limit} (1 to 1,000). This is not the order of the consumers, and
     * an event of a transaction that was open for long appears where it was published.
     */
    List<Event<Payload>> latest(EventFilter filter, int limit);

    /** Returns the position of the last event that has a position, to read later events only. */
    String end();

    /** Returns a position before the events that committed at an instant or later. */
    String before(Instant at);

    /** Returns the topics that have events, by name, at most 1,000. */
    List<TopicInfo> topics();

    /**
     * Returns the runs that deliver an event, or have delivered it: at most {@code limit} (1 to 1,000), newest first.
     */
    List<Run> deliveries(EventId id, int limit);

    /** Returns the subscriptions, by name: the first 1,000. */
    default List<Subscription> subscriptions() {
        return subscriptions("", 1_000);
    }

    /** Returns the subscriptions whose name follows this one, by name, at most {@code limit} (1 to 1,000). */
    List<Subscription> subscriptions(String after, int limit);

    /** Returns a subscription; empty if there is none with this name. */
    Optional<Subscription> subscription(String name);

    /** Creates a subscription, or changes the subscription with this name. An equal definition changes nothing. */
    SubscriptionChange subscribe(SubscriptionDefinition definition);

    /**
     * Like {@link #subscribe(SubscriptionDefinition)}, but changes nothing unless the subscription has this version; 0
     * if it must not exist.
     */
    SubscriptionChange subscribe(SubscriptionDefinition definition, long expectedVersion);

    /** Stops creating runs for a subscription. Events are kept for it. Returns whether it was not paused before. */
    default boolean pause(String name, String reason) {
        return pause(name, reason, null);
    }

    /** Pauses like {@link #pause(String, String)} and also stores the name of the user. */
    boolean pause(String name, String reason, @Nullable String by);

    /** Continues a paused subscription with the events since the pause. Returns whether it was paused. */
    boolean resume(String name);

    /**
     * Delivers past events again, in addition to the current ones: those from the first instant to the second. Both are
     * accurate to about a second. An event whose run is still waiting is not delivered a second time. A subscription
     * has at most 100 replays at a time. Returns the number of the replay.
     */
    long replay(String name, Instant from, Instant to);

    /**
     * Skips an event that has no run for the subscription yet, such as one that a paused subscription must not deliver.
     * Returns false if the subscription has passed the event; then cancel its run. At most 1,000 events can be skipped.
     */
    boolean skip(String name, EventId event);

    /** Removes a subscription. Runs that it has created stay. */
    boolean unsubscribe(String name);

    /** Returns the relays, which send events to a destination outside of the database. */
    Relays relays();

    /** Returns the sources, which publish what they read from a system outside of the database. */
    EventSources sources();
}
