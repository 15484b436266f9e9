package io.carillon.internal.store.event;

import io.carillon.event.Event;
import io.carillon.event.EventFilter;
import io.carillon.event.EventId;
import io.carillon.event.PublishResult;
import io.carillon.event.Subscription;
import io.carillon.event.SubscriptionChange;
import io.carillon.event.SubscriptionDefinition;
import io.carillon.event.TopicInfo;
import io.carillon.run.Payload;
import io.carillon.run.RunId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The port for publishing and reading events and for subscriptions. */
public interface EventStore {
    /**
     * Stores events, all or none, and returns one result per event, in order. {@code notifyNodes} adds a notification,
     * for callers without a node.
     */
    List<PublishResult> publish(List<EventToStore> events, boolean notifyNodes);

    /** Returns an event; empty if it does not exist or was removed by retention. */
    Optional<Event<Payload>> find(String project, EventId id);

    /** An event and its position in the order of all events. */
    record PositionedEvent(EventPosition position, Event<Payload> event) {}

    /**
     * The result of a read.
     *
     * @param next where the next read continues
     * @param atEnd whether no later event was found
     */
    record EventRead(List<PositionedEvent> events, EventPosition next, boolean atEnd) {
        public EventRead {
            events = List.copyOf(events);
        }
    }

    /**
     * Returns the events behind a position that a filter selects. One read examines a limited number of events, so it
     * may find none and not be at the end.
     */
    EventRead read(String project, EventFilter filter, EventPosition after, int limit);

    /** Returns the newest events that a filter selects, newest first. */
    List<Event<Payload>> latest(String project, EventFilter filter, int limit);

    /** Returns the position behind the last snapshot. */
    EventPosition end();

    /** Returns a position before the events that committed at an instant or later. */
    EventPosition before(Instant at);

    /** Returns the topics of a project that have events, at most 1,000. */
    List<TopicInfo> topics(String project);

    /** Returns the runs of an event, newest first. */
    List<RunId> deliveries(String project, EventId id, int limit);

    /** A definition of a subscription. */
    record Declaration(String project, SubscriptionDefinition definition, Subscription.Owner owner) {}

    /**
     * Creates a subscription, or changes it if its definition differs.
     *
     * @param expectedVersion the version that it must have, 0 if it must not exist; null for any
     */
    SubscriptionChange declare(Declaration declaration, @Nullable Long expectedVersion);

    /** Like {@link #declare(Declaration, Long)}, whatever version the subscription has. */
    default SubscriptionChange declare(Declaration declaration) {
        return declare(declaration, null);
    }

    /** Returns the subscriptions whose name is behind this one, by name. */
    List<Subscription> subscriptions(String project, String after, int limit);

    /** Returns a subscription; empty if there is none with this name. */
    Optional<Subscription> subscription(String project, String name);

    /** A subscription that has had events without a run for long. */
    record Behind(String project, String name, Instant oldest) {}

    /** Returns the subscriptions whose oldest event without a run is older than this, at most 100. */
    List<Behind> behind(boolean paused, Duration age);

    boolean pause(String project, String name, String reason, @Nullable String by);

    /** Like {@link #pause(String, String, String, String)}, without the name of a user. */
    default boolean pause(String project, String name, String reason) {
        return pause(project, name, reason, null);
    }

    boolean resume(String project, String name);

    /** A replay to be created. The caller creates the number, which is positive and unique. */
    record Replay(String project, String name, long number, Instant from, Instant to) {}

    /** Creates a replay. Throws if the subscription does not exist. */
    void replay(Replay replay);

    /** Skips an event that has no run yet. Returns false if the cursor has passed it. */
    boolean skip(String project, String name, EventId event);

    boolean remove(String project, String name);
}
