package io.carillon.internal.store.event;

import io.carillon.event.EventId;
import io.carillon.event.EventPattern;
import io.carillon.run.RunId;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The port of the dispatcher. Reading is separate from writing, and no lock is held in between: a write succeeds for
 * the subscriptions whose cursor and version have not changed.
 */
public interface EventDispatchStore {
    /** Stores a snapshot if there are new events. Returns the number of the last snapshot. */
    long storeSnapshot();

    /**
     * The place of all subscriptions that have no cursor of their own.
     *
     * @param version raised when a subscription loses its own cursor
     * @param wanted whether there are subscriptions at all
     * @param shared whether several projects have subscriptions
     */
    record Place(EventPosition position, long version, boolean wanted, boolean shared) {}

    /** Returns the place of the subscriptions without a cursor. */
    Place place();

    /**
     * Runs that were created for events.
     *
     * @param gate the gate at which they wait; null if they wait at none
     * @param runs their number
     */
    record NewRuns(String project, String queue, @Nullable String gate, long runs) {}

    /**
     * Moves the place to a position, and creates a run for each of these events and each subscription at the place that
     * selects it. A subscription that is paused, or that a transaction is changing, gets a cursor of its own instead.
     * Returns the runs; empty if the place has changed since it was read, or another node is moving it.
     *
     * @param firstRun the id of the first run, from which those of the others are derived
     * @param separated projects whose subscriptions of these topics get a cursor instead of runs
     */
    Optional<List<NewRuns>> dispatch(
            Place from, List<Head> events, EventPosition to, RunId firstRun, Set<String> separated);

    /** Like {@link #dispatch(Place, List, EventPosition, RunId, Set)}, without separated projects. */
    default Optional<List<NewRuns>> dispatch(Place from, List<Head> events, EventPosition to, RunId firstRun) {
        return dispatch(from, events, to, firstRun, Set.of());
    }

    /**
     * Removes the cursors of subscriptions that have reached the place. Returns how many; 0 if the place has changed.
     */
    int join(Place place, List<Name> subscriptions);

    /**
     * The name of a cursor.
     *
     * @param replay the number of a replay; negative for the subscription itself
     */
    record Name(String project, String name, long replay) {
        /** Returns the subscription. */
        public Subscriber subscriber() {
            return new Subscriber(project, name);
        }
    }

    /**
     * A subscription with a cursor of its own.
     *
     * @param start where to read: the cursor, or the oldest snapshot if retention has removed that of the cursor
     * @param endsAtSnapshot the last snapshot of a replay; null if it has no end
     */
    record Cursor(
            Name name,
            long version,
            EventPattern pattern,
            EventPosition cursor,
            EventPosition start,
            @Nullable Long endsAtSnapshot,
            Set<EventId> skipped) {}

    /**
     * Returns subscriptions and replays with a cursor that are not paused: of each project in turn the one that is
     * furthest behind.
     *
     * @param without subscriptions that are left out, with their replays
     */
    List<Cursor> behind(int limit, Collection<Subscriber> without);

    /** Like {@link #behind(int, Collection)}, for all subscriptions. */
    default List<Cursor> behind(int limit) {
        return behind(limit, List.of());
    }

    /** The name of a subscription. */
    record Subscriber(String project, String name) {}

    /** The runs of one handler and priority in a queue. */
    record Lane(String project, String queue, String handler, long priority) {}

    /** The lane in which a subscription creates its runs, and how many runs wait or are executed there. */
    record Backlog(Subscriber subscriber, Lane lane, long runs) {}

    /** Returns the backlog of each of these subscriptions. Its runs are counted up to {@code atMost}. */
    List<Backlog> backlogs(Collection<Subscriber> subscribers, long atMost);

    /** An event without its data. */
    record Head(
            EventPosition position,
            String project,
            EventId id,
            String topic,
            String type,
            @Nullable String key) {}

    /**
     * Events to be read: those behind a position, up to a snapshot; of one topic, or of all.
     *
     * @param topic the only topic to read; null for all topics of all projects
     */
    record Window(EventPosition after, long last, @Nullable Topic topic) {
        /** A topic of a project. */
        public record Topic(String project, String name) {}
    }

    /** Returns events in their order. */
    List<Head> read(Window window, int limit);

    /** The runs that a subscription gets when its cursor moves. */
    record Delivery(Cursor from, List<EventId> events) {
        public Delivery {
            events = List.copyOf(events);
        }
    }

    /**
     * The result of a delivery.
     *
     * @param moved the subscriptions whose cursor was moved
     */
    record Delivered(Set<Name> moved, List<NewRuns> runs) {}

    /**
     * Moves cursors to a position and creates runs, whose ids are derived from that of the first one.
     *
     * @param copyData whether runs get a copy of small data; without it, they load the data from the event
     */
    Delivered deliver(List<Delivery> deliveries, EventPosition to, RunId firstRun, boolean copyData);

    /** Like {@link #deliver(List, EventPosition, RunId, boolean)}, with copies. */
    default Delivered deliver(List<Delivery> deliveries, EventPosition to, RunId firstRun) {
        return deliver(deliveries, to, firstRun, true);
    }

    /** Removes a replay that has reached its end. */
    void endReplay(Name replay);
}
