package io.carillon.internal.api;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.event.EventId;
import io.carillon.event.NewEvent;
import io.carillon.internal.run.PublishingTicks;
import io.carillon.internal.store.event.EventToStore;
import io.carillon.internal.value.EventHeaders;
import io.carillon.internal.value.Names;
import io.carillon.run.Payload;
import io.carillon.run.Target;
import io.carillon.spi.PayloadCodec;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An event that a schedule publishes at each tick; the payload of its ticks, in JSON, which the database reads.
 *
 * @param key null if the event has none
 * @param headers what the publisher adds beside the data
 * @param data the encoded data, in Base64
 */
public record TickEvent(
        String schedule,
        String topic,
        String type,
        @Nullable String key,
        boolean versioned,
        Map<String, String> headers,
        String codec,
        String data) {
    /** Encodes an event. An expected version and a publish id have no meaning here and are ignored. */
    public static TickEvent of(String schedule, NewEvent<?> event, PayloadCodec codec) {
        Payload data = encode(event, codec);
        return new TickEvent(
                schedule,
                event.type().topic().name(),
                event.type().name(),
                event.key(),
                event.type().topic().versioned(),
                event.headers(),
                data.codec(),
                Base64.getEncoder().encodeToString(data.bytes()));
    }

    /** Returns the encoded data of an event. Data that is a payload is encoded already. */
    static Payload encode(NewEvent<?> event, PayloadCodec codec) {
        Payload data = event.data() instanceof Payload encoded
                ? encoded
                : new Payload(codec.encode(event.data()), codec.name());
        // The database copies JSON to the runs as text.
        if (data.codec().equals("json") && !isText(data.bytes()))
            throw new CarillonException(
                    ErrorCode.PAYLOAD_UNWRITABLE,
                    ("The data of an event of type '%s' is not UTF-8 text without NUL, but its codec is 'json'. Publish"
                                    + " JSON in UTF-8, or give the Payload another codec name, such as 'binary'.")
                            .formatted(event.type().name()));
        return data;
    }

    private static boolean isText(byte[] bytes) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .chars()
                    .noneMatch(one -> one == 0);
        } catch (CharacterCodingException malformed) {
            return false;
        }
    }

    /** Returns the target of the ticks. */
    public Target target() {
        return versioned ? EventHandlers.VERSIONED : PublishingTicks.TARGET;
    }

    /** Returns the payload of the ticks. */
    public Payload payload() {
        StringBuilder json = new StringBuilder("{\"schedule\":\"" + schedule + "\",\"topic\":\"" + topic
                + "\",\"type\":\"" + type + "\",\"codec\":\"" + escaped(codec) + "\"");
        if (key != null) json.append(",\"key\":\"").append(escaped(key)).append('"');
        String headerJson = EventHeaders.toJson(headers);
        if (headerJson != null) json.append(",\"headers\":").append(headerJson);
        json.append(",\"data\":\"").append(data).append("\"}");
        return new Payload(json.toString().getBytes(StandardCharsets.UTF_8), "json");
    }

    private static String escaped(String text) {
        StringBuilder escaped = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char one = text.charAt(i);
            if (one == '"' || one == '\\') escaped.append('\\').append(one);
            else if (one < ' ') escaped.append("\\u%04x".formatted((int) one));
            else escaped.append(one);
        }
        return escaped.toString();
    }

    /** Reads the payload of a tick whose event has a version. */
    static TickEvent parse(byte[] payload) {
        EventEnvelope.TickPayload tick = EventEnvelope.parseTick(payload);
        Map<String, String> values = tick.values();
        return new TickEvent(
                values.getOrDefault("schedule", ""),
                values.getOrDefault("topic", ""),
                values.getOrDefault("type", ""),
                values.get("key"),
                true,
                tick.headers(),
                values.getOrDefault("codec", ""),
                values.getOrDefault("data", ""));
    }

    /** Returns the event to publish. Throws if a payload that was edited or enqueued by hand is not an event. */
    EventToStore toStore(String project, EventId id) {
        Names.check("topic", topic);
        Names.check("event type", type);
        if (key == null) throw unreadable("the key is missing", null);
        return new EventToStore(
                        project,
                        id,
                        topic,
                        type,
                        Names.checkKey("event key", key),
                        versioned,
                        null,
                        RunFactory.requireWithinLimit(type, decodedData()))
                .headers(EventHeaders.check(headers));
    }

    /** The database reads JSON data as text, so that other bytes would stop the subscriptions of the topic. */
    private Payload decodedData() {
        try {
            byte[] bytes = Base64.getDecoder().decode(data);
            if (codec.equals("json")) StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
            return new Payload(bytes, codec);
        } catch (IllegalArgumentException | CharacterCodingException malformed) {
            throw unreadable("the data is not Base64 of UTF-8 text", malformed);
        }
    }

    private static CarillonException unreadable(String why, @Nullable Exception cause) {
        return new CarillonException(
                ErrorCode.PAYLOAD_UNREADABLE,
                "The payload is not an event: %s. Runs that publish are created by schedules only.".formatted(why),
                cause);
    }
}
