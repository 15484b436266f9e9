package io.carillon.run;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.Names;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * The stored name of a handler and the Java type of its payload. Runs store the name and not the class, so that the
 * class can be moved and renamed.
 *
 * @param name the handler name, stored with each run
 * @param payloadType the class of the payload, usually a record
 * @param olderReaders functions that convert payloads stored under older names, by older name
 * @param payloadQueue returns the queue that a payload requires; empty if it requires none
 */
public record HandlerType<T>(
        String name,
        Class<T> payloadType,
        Map<String, Function<String, T>> olderReaders,
        Function<T, Optional<String>> payloadQueue) {
    public HandlerType {
        Names.check("handler", name);
        olderReaders = Map.copyOf(olderReaders);
    }

    /** Returns a handler type without older names. */
    public static <T> HandlerType<T> of(String name, Class<T> type) {
        return new HandlerType<>(name, type, Map.of(), payload -> Optional.empty());
    }

    /**
     * Returns a handler type that also accepts runs stored under an older handler name. The reader receives the stored
     * JSON and returns a payload of the current type.
     */
    public HandlerType<T> accepting(String olderName, Function<String, T> reader) {
        if (olderName.equals(name) || olderReaders.containsKey(olderName))
            throw new CarillonException(
                    ErrorCode.DUPLICATE_HANDLER,
                    "Handler '%s' already accepts the name '%s'. Each older name can be added only once."
                            .formatted(name, olderName));
        Names.check("handler", olderName);
        Map<String, Function<String, T>> more = new LinkedHashMap<>(olderReaders);
        more.put(olderName, reader);
        return new HandlerType<>(name, payloadType, more, payloadQueue);
    }

    /**
     * Returns a handler type whose payloads may require a queue. A run or schedule with such a payload uses that queue
     * and cannot be stored in another one.
     */
    public HandlerType<T> payloadQueue(Function<T, Optional<String>> queue) {
        return new HandlerType<>(name, payloadType, olderReaders, queue);
    }
}
