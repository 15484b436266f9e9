package io.carillon.server.stream;

import io.carillon.server.store.StreamEventRepository;
import io.carillon.server.store.StreamEventRepository.StreamEvent;
import io.carillon.server.store.StreamEventRepository.StreamPosition;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The events that one client missed between two connections. Its last event id is a position in the database, so that
 * any server can continue. Commits become visible late, so the seconds before that position are read again, and their
 * events sent twice.
 */
public final class MissedEvents {
    /** The time after which a client cannot continue. It bounds what a reconnect reads, as the number of pages does. */
    private static final Duration MAX_AGE = Duration.ofMinutes(5);

    private static final int MAX_PAGES = 5;
    private static final Pattern EVENT_ID = Pattern.compile("([0-9]{1,17})(?:-([0-9a-f-]{36}))?");

    private final Set<UUID> sent = new HashSet<>();

    /** Returns the id of an event. */
    public static String idOf(StreamEvent event) {
        return micros(event.at()) + "-" + event.id();
    }

    /** Returns the id of the position at which all events up to an instant are known. */
    public static String idOf(Instant knownUntil) {
        return Long.toString(micros(knownUntil));
    }

    private static long micros(Instant at) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, at);
    }

    /**
     * Returns the events after the last one that the client received; empty if that is too long ago, too many events
     * followed, or the id is not one of this server.
     */
    public Optional<List<StreamEvent>> after(String lastEventId, ProjectEventStream.EventSource source) {
        Matcher parts = EVENT_ID.matcher(lastEventId);
        if (!parts.matches()) return Optional.empty();
        Instant at = Instant.EPOCH.plus(Long.parseLong(parts.group(1)), ChronoUnit.MICROS);
        Instant now = source.now();
        if (at.isBefore(now.minus(MAX_AGE)) || at.isAfter(now.plus(MAX_AGE))) return Optional.empty();
        String lastId = parts.group(2);
        Instant from = lastId == null ? at : at.minus(ProjectEventStream.OVERLAP);
        List<StreamEvent> missed = new ArrayList<>();
        StreamPosition position = StreamPosition.at(from);
        for (int page = 0; page < MAX_PAGES; page++) {
            List<StreamEvent> found = source.eventsAfter(position);
            for (StreamEvent event : found)
                if (!event.id().toString().equals(lastId) && sent.add(event.id())) missed.add(event);
            if (found.size() < StreamEventRepository.PAGE_SIZE) return Optional.of(missed);
            StreamEvent last = found.get(found.size() - 1);
            position = new StreamPosition(last.at(), last.id());
        }
        sent.clear();
        return Optional.empty();
    }

    /** Returns whether the client has received this event as one of the missed events. */
    public boolean contains(StreamEvent event) {
        return sent.contains(event.id());
    }
}
