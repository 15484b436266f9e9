package io.carillon.server.event;

import io.carillon.CarillonException;
import io.carillon.event.NewEvent;
import io.carillon.internal.json.JsonCodec;
import io.carillon.internal.value.EventHeaders;
import io.carillon.run.Payload;
import io.carillon.run.Target;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.JsonObject;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The target {@code event} of a run or schedule: an event that the end of the run publishes. The data is the payload of
 * the request. The run stores the event as its payload.
 *
 * @param schedule the schedule that publishes it; null for a run without one
 * @param key null if it has none
 * @param headers what is added beside the data
 * @param codec the codec of the data
 * @param data the encoded data, in Base64
 */
public record EventTarget(
        @Nullable String schedule,
        String topic,
        String type,
        @Nullable String key,
        Map<String, String> headers,
        String codec,
        String data) {
    public EventTarget {
        headers = headers == null ? Map.of() : EventHeaders.sorted(headers);
    }

    /** The handler that publishes the events of runs. */
    public static final String HANDLER = "carillon.publish";
    /** The handler of schedules of an application that publish to a topic with versions. */
    private static final String VERSIONED_HANDLER = "carillon.publish-versioned";

    private static final JsonCodec CODEC = new JsonCodec();

    /** Returns whether a target is an event. */
    public static boolean isEvent(String kind, String name) {
        return kind.equals(Target.HANDLER) && (name.equals(HANDLER) || name.equals(VERSIONED_HANDLER));
    }

    /** Returns the event that a run with this target and payload publishes; empty if the target is not an event. */
    public static Optional<EventTarget> of(String kind, String name, byte[] payload) {
        return isEvent(kind, name) ? fromPayload(payload) : Optional.empty();
    }

    /** Reads topic, type, key and headers of the event; it has no data yet. */
    public static EventTarget read(JsonFields fields) {
        NewEvent<Payload> event = EventInput.event(fields, false, new Payload(new byte[0], "none"));
        fields.refuseUnknown();
        return new EventTarget(
                null, event.type().topic().name(), event.type().name(), event.key(), event.headers(), "none", "");
    }

    /** Returns the same event, published by a schedule. */
    public EventTarget ofSchedule(String name) {
        return new EventTarget(name, topic, type, key, headers, codec, data);
    }

    /** Returns the same event with this data. */
    public EventTarget withData(Payload payload) {
        return new EventTarget(
                schedule,
                topic,
                type,
                key,
                headers,
                payload.codec(),
                Base64.getEncoder().encodeToString(payload.bytes()));
    }

    /** Returns the encoded data. */
    public Payload dataPayload() {
        return new Payload(Base64.getDecoder().decode(data), codec);
    }

    /** Returns the payload of a run that publishes the event. */
    public Payload runPayload() {
        return new Payload(CODEC.encode(this), CODEC.name());
    }

    /** Returns the event in the payload of a run; empty if it is not readable. */
    public static Optional<EventTarget> fromPayload(byte[] payload) {
        try {
            return Optional.of(CODEC.decode(payload, EventTarget.class));
        } catch (CarillonException other) {
            return Optional.empty();
        }
    }

    /** Returns the target as it is read from requests. */
    public JsonObject toJson() {
        return new JsonObject()
                .put(
                        "event",
                        new JsonObject()
                                .put("topic", topic)
                                .put("type", type)
                                .put("key", key)
                                .put("headers", headers.isEmpty() ? null : headers));
    }
}
