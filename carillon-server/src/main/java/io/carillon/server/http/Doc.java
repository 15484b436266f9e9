package io.carillon.server.http;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A JSON object that is being written: fields in order, none for what is null; instants, durations and ids as text. */
public final class Doc {
    private final Map<String, Object> fields = new LinkedHashMap<>();

    /** Adds a field, unless the value is null. */
    public Doc put(String name, @Nullable Object value) {
        if (value != null) fields.put(name, plain(value));
        return this;
    }

    private static Object plain(Object value) {
        if (value instanceof Doc doc) return doc.fields;
        if (value instanceof List<?> list) return list.stream().map(Doc::plain).toList();
        if (value instanceof Instant || value instanceof Duration) return value.toString();
        return value;
    }

    Map<String, Object> fields() {
        return fields;
    }
}
