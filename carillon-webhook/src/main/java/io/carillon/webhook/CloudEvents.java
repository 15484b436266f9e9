package io.carillon.webhook;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.event.CloudEventMode;
import io.carillon.event.EventId;
import io.carillon.internal.json.JsonCodec;
import io.carillon.run.Payload;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;

/** Turns messages with an event into requests with the form of CloudEvents 1.0 over HTTP. */
final class CloudEvents {
    private static final JsonCodec CODEC = new JsonCodec();
    private static final String JSON = "application/json";

    private CloudEvents() {}

    /**
     * Returns a message with the headers and the body of its event. A message without an event, or with a body of its
     * own, is returned as it is.
     *
     * @param data returns the data of an event that is not part of the message
     */
    static WebhookTarget expand(
            String project, WebhookTarget message, BiFunction<String, EventId, Optional<Payload>> data) {
        WebhookEvent event = message.event();
        if (event == null || !message.body().isEmpty()) return message;
        WebhookEvent complete = event.data() != null
                ? event
                : event.withData(text(data.apply(project, event.eventId()).orElseThrow(() -> removed(event))));
        Map<String, String> attributes = attributes(project, complete);
        // A body is text, so data of another codec has the structured form in both modes.
        return complete.cloudEventMode() == CloudEventMode.BINARY && complete.isJson()
                ? binary(message, complete, attributes)
                : structured(message, complete, attributes);
    }

    private static String text(Payload payload) {
        return payload.codec().equals("json")
                ? new String(payload.bytes(), UTF_8)
                : Base64.getEncoder().encodeToString(payload.bytes());
    }

    private static CarillonException removed(WebhookEvent event) {
        return new CarillonException(
                ErrorCode.PAYLOAD_UNREADABLE,
                "The data of event %s was removed by retention. Keep events longer with eventRetention."
                        .formatted(event.eventId()));
    }

    private static Map<String, String> attributes(String project, WebhookEvent event) {
        Map<String, String> attributes = new LinkedHashMap<>();
        attributes.put("specversion", "1.0");
        attributes.put("id", event.eventId().toString());
        attributes.put("source", "/projects/" + project + "/topics/" + event.topic());
        attributes.put("type", event.type());
        String key = event.key();
        if (key != null) attributes.put("subject", key);
        attributes.put("time", event.publishedAt());
        String plannedAt = event.plannedAt();
        if (plannedAt != null) attributes.put("plannedat", plannedAt);
        if (event.version() > 0) attributes.put("sequence", Long.toString(event.version()));
        return attributes;
    }

    private static WebhookTarget binary(WebhookTarget message, WebhookEvent event, Map<String, String> attributes) {
        Map<String, String> headers = new LinkedHashMap<>(message.headers());
        attributes.forEach((name, value) -> headers.put("ce-" + name, percentEncoded(value)));
        headers.put("content-type", JSON);
        return message.headers(headers).body(String.valueOf(event.data()));
    }

    private static WebhookTarget structured(WebhookTarget message, WebhookEvent event, Map<String, String> attributes) {
        if (event.isJson()) attributes.put("datacontenttype", JSON);
        else attributes.put("data_base64", String.valueOf(event.data()));
        String body = new String(CODEC.encode(attributes), UTF_8);
        // The bytes of the data are sent as they are, so that numbers keep all digits.
        if (event.isJson()) body = body.substring(0, body.length() - 1) + ",\"data\":" + event.data() + "}";
        Map<String, String> headers = new LinkedHashMap<>(message.headers());
        headers.put("content-type", "application/cloudevents+json; charset=utf-8");
        return message.headers(headers).body(body);
    }

    /** Encodes what a header cannot contain, as the HTTP binding of CloudEvents requires. */
    private static String percentEncoded(String value) {
        StringBuilder text = new StringBuilder();
        for (byte unsigned : value.getBytes(UTF_8)) {
            int one = unsigned & 0xff;
            if (one > 0x20 && one < 0x7f && one != '"' && one != '%') text.append((char) one);
            else text.append("%%%02X".formatted(one));
        }
        return text.toString();
    }
}
