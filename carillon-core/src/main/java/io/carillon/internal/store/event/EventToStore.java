package io.carillon.internal.store.event;

import io.carillon.event.EventId;
import io.carillon.run.Payload;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An event to be published. The caller creates the id, so that repeating a statement whose answer was lost stores no
 * event twice.
 *
 * @param expectedVersion the version that the key must have; null if any version is allowed
 * @param publishId the id that the publisher gave the event; null if it has none
 * @param headers what the publisher added beside the data
 */
public record EventToStore(
        String project,
        EventId id,
        String topic,
        String type,
        @Nullable String key,
        boolean versioned,
        @Nullable Long expectedVersion,
        Payload data,
        @Nullable String publishId,
        Map<String, String> headers) {
    /** Creates an event without a publish id and headers. */
    public EventToStore(
            String project,
            EventId id,
            String topic,
            String type,
            @Nullable String key,
            boolean versioned,
            @Nullable Long expectedVersion,
            Payload data) {
        this(project, id, topic, type, key, versioned, expectedVersion, data, null, Map.of());
    }

    /** Returns a copy with the id that the publisher gave the event; null for none. */
    public EventToStore publishId(@Nullable String given) {
        return new EventToStore(project, id, topic, type, key, versioned, expectedVersion, data, given, headers);
    }

    /** Returns a copy with these headers. */
    public EventToStore headers(Map<String, String> given) {
        return new EventToStore(project, id, topic, type, key, versioned, expectedVersion, data, publishId, given);
    }

    /** Returns the UTC day of the time in the id, which is the partition of the event. */
    public LocalDate day() {
        return dayOf(id);
    }

    /** Returns the UTC day of the time in an id. */
    public static LocalDate dayOf(EventId id) {
        return Instant.ofEpochMilli(id.value().getMostSignificantBits() >>> 16)
                .atZone(ZoneOffset.UTC)
                .toLocalDate();
    }
}
