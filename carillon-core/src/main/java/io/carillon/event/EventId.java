package io.carillon.event;

import io.carillon.internal.value.PublicId;
import java.util.UUID;

/** The id of an event. Its text form is {@code evt_…}. */
public record EventId(UUID value) implements Comparable<EventId> {
    private static final String PREFIX = "evt";

    /** Parses the text form. */
    public static EventId parse(String text) {
        return new EventId(PublicId.parse(PREFIX, text));
    }

    @Override
    public int compareTo(EventId other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return PublicId.format(PREFIX, value);
    }
}
