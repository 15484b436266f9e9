package io.carillon.event;

import io.carillon.internal.value.Names;
import org.jspecify.annotations.Nullable;

/**
 * The events of one topic that a reader wants to see.
 *
 * @param topic the name of the topic
 * @param type the name of the type, or the beginning of a name followed by {@code *}; null for all types
 * @param key null for all events
 */
public record EventFilter(
        String topic, @Nullable String type, @Nullable String key) {
    public EventFilter {
        Names.check("topic", topic);
        if (type != null) EventPattern.of(topic, type);
        if (key != null) Names.checkKey("event key", key);
    }

    /** Returns the filter that selects all events of a topic. */
    public static EventFilter topic(String topic) {
        return new EventFilter(topic, null, null);
    }

    /** Returns a filter that selects one type, or the types that begin with a text that is followed by {@code *}. */
    public EventFilter type(String pattern) {
        return new EventFilter(topic, pattern, key);
    }

    /** Returns a filter that selects the events of one key. */
    public EventFilter key(String eventKey) {
        return new EventFilter(topic, type, eventKey);
    }

    /** Returns whether an event of this topic and key has a type that this filter selects. */
    public boolean selectsType(String eventType) {
        String wanted = type;
        return wanted == null || EventPattern.of(topic, wanted).matches(topic, eventType);
    }
}
