package io.carillon.server.http;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A JSON object to be written. Fields keep their order; null values are left out; instants and durations are
 * written as text.
 */
public final class JsonObject {
    private final Map<String, Object> fields = new LinkedHashMap<>();

    /** Adds a field unless the value is null. */
    public JsonObject put(String name, @Nullable Object value) {
        if (value != null) fields.put(name, toJsonValue(value));
        return this;
    }

    private static Object toJsonValue(Object value) {
        if (value instanceof JsonObject jsonObject) return jsonObject.fields;
        if (value instanceof List<?> list)
            return list.stream().map(JsonObject::toJsonValue).toList();
        if (value instanceof Instant || value instanceof Duration) return value.toString();
        return value;
    }

    Map<String, Object> fields() {
        return fields;
    }
}
