package io.carillon.server.stream;

import io.carillon.server.store.StreamEventRepository;
import io.carillon.server.store.StreamEventRepository.StreamEvent;
import io.carillon.server.store.StreamEventRepository.StreamPosition;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * The recent events of one project, shared by all its listeners: the first listener that asks after about a
 * second queries the database, and the others receive the same events. After a burst the stream reads further
 * pages until it has caught up. A stream or listener that is too far behind continues with the present and
 * reports that events were lost.
 */
public final class ProjectEventStream {
    private static final long QUERY_INTERVAL_NANOS = Duration.ofMillis(900).toNanos();
    /** Commits become visible shortly after the time they contain, so this much is read again. */
    public static final Duration OVERLAP = Duration.ofSeconds(5);
    /** A stream that is further behind continues with the present. */
    private static final Duration MAX_LAG = Duration.ofSeconds(30);
    /** The maximum number of pages that one query reads. */
    private static final int MAX_PAGES_PER_QUERY = 5;
    /** A listener that is further behind loses events. */
    private static final int MAX_REMEMBERED = 2 * MAX_PAGES_PER_QUERY * StreamEventRepository.PAGE_SIZE;

    /** Reads events from the database. */
    public interface EventSource {
        /** Returns the database time. */
        Instant now();

        /** Returns whether there may be events after an instant; false only if there are none. */
        default boolean mayHaveEventsAfter(Instant instant) {
            return true;
        }

        /** Returns the events after a position, in order, at most {@link StreamEventRepository#PAGE_SIZE}. */
        List<StreamEvent> eventsAfter(StreamPosition streamPosition);
    }

    /** An event with its sequence number. */
    public record NumberedEvent(long number, StreamEvent event) {}

    /**
     * The events for a listener.
     *
     * @param lost whether earlier events were lost
     * @param lastNumber the sequence number to continue from
     * @param knownUntil the instant up to which the listener has received all events
     */
    public record EventBatch(List<NumberedEvent> events, boolean lost, long lastNumber, Instant knownUntil) {}

    private final Map<UUID, Instant> recentIds = new HashMap<>();
    private final Deque<NumberedEvent> recent = new ArrayDeque<>();
    private final Instant start;
    private StreamPosition position;
    private long lastQueryNanos;
    private long lastNumber;
    /** A listener whose last sequence number is smaller than this has lost events. */
    private long lostUpTo;

    /** Creates a stream of the events from {@code now} on. */
    public ProjectEventStream(Instant now) {
        start = now;
        position = StreamPosition.at(now);
        lastQueryNanos = System.nanoTime() - QUERY_INTERVAL_NANOS;
    }

    /** Returns the events after this sequence number; queries the database at most about once a second. */
    public synchronized EventBatch eventsAfter(long number, EventSource eventSource) {
        if (System.nanoTime() - lastQueryNanos >= QUERY_INTERVAL_NANOS) query(eventSource);
        List<NumberedEvent> news = new ArrayList<>();
        for (NumberedEvent one : recent) if (one.number() > number) news.add(one);
        return new EventBatch(news, number < lostUpTo, lastNumber, position.at());
    }

    private void query(EventSource eventSource) {
        Instant now = eventSource.now();
        boolean more = eventSource.mayHaveEventsAfter(position.at());
        for (int page = 0; more && page < MAX_PAGES_PER_QUERY; page++) {
            List<StreamEvent> found = eventSource.eventsAfter(position);
            found.forEach(this::add);
            more = found.size() == StreamEventRepository.PAGE_SIZE;
            if (!found.isEmpty()) position = positionOf(found.get(found.size() - 1));
        }
        lastQueryNanos = System.nanoTime();
        advancePosition(now, more);
        recentIds.values().removeIf(at -> at.isBefore(position.at()));
    }

    private static StreamPosition positionOf(StreamEvent one) {
        return new StreamPosition(one.at(), one.id());
    }

    private void add(StreamEvent one) {
        if (recentIds.put(one.id(), one.at()) != null) return;
        recent.addLast(new NumberedEvent(++lastNumber, one));
        if (recent.size() > MAX_REMEMBERED) lostUpTo = recent.removeFirst().number();
    }

    /**
     * Moves the position of the next query to some seconds before the present, because commits may become visible late,
     * or keeps the end of this query if that is earlier.
     */
    private void advancePosition(Instant now, boolean more) {
        Instant late = now.minus(OVERLAP);
        boolean tooLate = more && position.at().isBefore(now.minus(MAX_LAG));
        if (tooLate) lostUpTo = ++lastNumber;
        if (tooLate || !more || position.at().isAfter(late))
            position = StreamPosition.at(late.isBefore(start) ? start : late);
    }

    /** Lets the next call query the database immediately. */
    synchronized void allowQueryNow() {
        lastQueryNanos = System.nanoTime() - QUERY_INTERVAL_NANOS;
    }

    /** Returns the sequence number of the newest event. */
    public synchronized long lastNumber() {
        return lastNumber;
    }
}
