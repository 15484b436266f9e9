package io.carillon.webhook;

import static java.util.Objects.requireNonNull;

import io.carillon.event.CloudEventMode;
import io.carillon.event.EventId;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The event that a message to an endpoint contains. The database writes it when a subscription sends its events to the
 * endpoint; at the attempt it becomes the headers and the body of a CloudEvent.
 *
 * @param id the number in the id of the event
 * @param key null if the event has none
 * @param version the version of the key after this event; 0 if the topic has no versions
 * @param publishedAt in the form of RFC 3339
 * @param plannedAt the planned instant of the tick that published it; null if none did
 * @param headers what the publisher added beside the data
 * @param codec the name of the codec of the data
 * @param mode structured or binary
 * @param data the data if its codec is json, or else its Base64; null if it must be loaded from the event
 */
public record WebhookEvent(
        String id,
        String topic,
        String type,
        @Nullable String key,
        long version,
        String publishedAt,
        @Nullable String plannedAt,
        Map<String, String> headers,
        String codec,
        String mode,
        @Nullable String data) {
    public WebhookEvent {
        requireNonNull(id, "id");
        requireNonNull(topic, "topic");
        requireNonNull(type, "type");
        requireNonNull(publishedAt, "publishedAt");
        headers = headers == null ? Map.of() : Map.copyOf(headers);
        requireNonNull(codec, "codec");
        requireNonNull(mode, "mode");
    }

    /** Returns the id of the event. */
    public EventId eventId() {
        return new EventId(UUID.fromString(id));
    }

    CloudEventMode cloudEventMode() {
        return CloudEventMode.valueOf(mode.toUpperCase(Locale.ROOT));
    }

    boolean isJson() {
        return codec.equals("json");
    }

    WebhookEvent withData(String loaded) {
        return new WebhookEvent(id, topic, type, key, version, publishedAt, plannedAt, headers, codec, mode, loaded);
    }
}
