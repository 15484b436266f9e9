package io.carillon.event;

import io.carillon.internal.value.EventHeaders;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A stored event.
 *
 * @param topic the name of its topic
 * @param type the name of its type in the topic
 * @param key null if it has none
 * @param version the version of the key after this event; 0 if the topic has no versions
 * @param schedule the schedule whose tick published it; null if none did
 * @param plannedAt the planned instant of that tick
 * @param headers what the publisher added beside the data, by name
 * @param data the decoded data, or a {@link io.carillon.run.Payload} where the type is not known
 */
public record Event<T>(
        EventId id,
        String topic,
        String type,
        @Nullable String key,
        long version,
        Instant publishedAt,
        @Nullable String schedule,
        @Nullable Instant plannedAt,
        Map<String, String> headers,
        T data) {
    public Event {
        headers = EventHeaders.sorted(headers);
    }

    /** Creates an event without headers that no schedule published. */
    public Event(
            EventId id, String topic, String type, @Nullable String key, long version, Instant publishedAt, T data) {
        this(id, topic, type, key, version, publishedAt, null, null, Map.of(), data);
    }

    /** Returns the same event with other data. */
    public <R> Event<R> withData(R other) {
        return new Event<>(id, topic, type, key, version, publishedAt, schedule, plannedAt, headers, other);
    }
}
