package io.carillon.server.event;

import io.carillon.CarillonException;
import io.carillon.event.EventId;
import io.carillon.event.EventType;
import io.carillon.event.NewEvent;
import io.carillon.event.Topic;
import io.carillon.run.Payload;
import io.carillon.server.http.Json;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.Problem;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;

/** Reads events of requests. */
public final class EventInput {
    private static final Payload NO_DATA = new Payload("{}".getBytes(StandardCharsets.UTF_8), "json");

    private EventInput() {}

    /** Reads an event to be published now. */
    public static NewEvent<Payload> read(JsonFields body) {
        Optional<Long> expected = body.number("expectedVersion");
        boolean versions = body.flag("versions").orElse(false) || expected.isPresent();
        NewEvent<Payload> event = event(body, versions, data(body, "data"));
        Optional<String> id = body.text("publishId");
        if (id.isPresent()) {
            NewEvent<Payload> before = event;
            event = body.convert("publishId", () -> before.publishId(id.get()));
        }
        body.refuseUnknown();
        if (expected.isEmpty()) return event;
        NewEvent<Payload> before = event;
        return body.convert("expectedVersion", () -> before.expectedVersion(expected.get()));
    }

    /** Reads topic, type, key and headers of an event. With versions, the key is required. */
    static NewEvent<Payload> event(JsonFields fields, boolean versions, Payload data) {
        String topicName = fields.required("topic", fields.text("topic"));
        String typeName = fields.required("type", fields.text("type"));
        Optional<String> key = fields.text("key");
        Topic topic = fields.convert("topic", () -> new Topic(topicName, versions));
        EventType<Payload> type = fields.convert("type", () -> topic.event(typeName, Payload.class));
        NewEvent<Payload> event = type.of(data);
        if (versions) fields.required("key", key);
        NewEvent<Payload> keyed = key.isEmpty() ? event : fields.convert("key", () -> event.key(key.get()));
        Optional<Map<String, String>> headers = fields.textMap("headers");
        return headers.isEmpty() ? keyed : fields.convert("headers", () -> keyed.headers(headers.get()));
    }

    /** Reads the id of an event. */
    public static EventId id(JsonFields body, String name) {
        String given = body.required(name, body.text(name));
        try {
            return EventId.parse(given);
        } catch (CarillonException malformed) {
            throw Problem.invalid("/" + name, String.valueOf(malformed.getMessage()));
        }
    }

    /** Returns the field as encoded data; an empty object if it is missing. */
    public static Payload data(JsonFields body, String name) {
        return body.jsonValue(name)
                .map(node -> new Payload(Json.bytes(node), "json"))
                .orElse(NO_DATA);
    }
}
