package io.carillon.event;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.Names;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/**
 * The stored name of an event type in its topic, and the Java type of its data. Events store the name and not the
 * class, so that the class can be moved and renamed.
 *
 * @param topic the topic of the events
 * @param name the name that is stored with each event
 * @param dataType the class of the data, usually a record
 * @param olderReaders functions that convert data stored under older names, by older name
 */
public record EventType<T>(Topic topic, String name, Class<T> dataType, Map<String, Function<String, T>> olderReaders) {
    public EventType {
        Names.check("event type", name);
        olderReaders = Map.copyOf(olderReaders);
    }

    static <T> EventType<T> of(Topic topic, String name, Class<T> dataType) {
        return new EventType<>(topic, name, dataType, Map.of());
    }

    /** Returns a new event of this type. */
    public NewEvent<T> of(T data) {
        return NewEvent.of(this, data);
    }

    /**
     * Returns an event type whose subscriptions also receive events stored under an older name of the same topic. The
     * reader receives the stored JSON and returns data of the current type.
     */
    public EventType<T> accepting(String olderName, Function<String, T> reader) {
        if (olderName.equals(name) || olderReaders.containsKey(olderName))
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "Event type '%s' already accepts the name '%s'. Each older name can be added only once."
                            .formatted(name, olderName));
        Names.check("event type", olderName);
        Map<String, Function<String, T>> more = new LinkedHashMap<>(olderReaders);
        more.put(olderName, reader);
        return new EventType<>(topic, name, dataType, more);
    }
}
