package io.carillon.internal.api;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.event.Event;
import io.carillon.event.EventId;
import io.carillon.run.Payload;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * The payload of a run for an event: a JSON object with the values of the event, and last the data, unless it is too
 * large. The database writes it, without nested values before the data. The bytes of the data are returned as they are,
 * so that numbers keep all digits, and no JSON library is needed.
 */
final class EventEnvelope {
    private final byte[] bytes;
    private int next = 1;

    private EventEnvelope(byte[] bytes) {
        this.bytes = bytes;
    }

    /** Reads an envelope. The data is empty if it must be loaded from the event. */
    static Event<Optional<Payload>> parse(byte[] bytes) {
        try {
            return new EventEnvelope(bytes).event();
        } catch (IllegalArgumentException | IndexOutOfBoundsException | DateTimeException malformed) {
            throw new CarillonException(
                    ErrorCode.PAYLOAD_UNREADABLE,
                    "The payload is not an event: %s. Runs of a subscription are created from events only."
                            .formatted(malformed.getMessage()),
                    malformed);
        }
    }

    /** Reads an object all of whose values are strings. */
    static Map<String, String> strings(byte[] bytes) {
        EventEnvelope reader = new EventEnvelope(bytes);
        Map<String, String> values = new HashMap<>();
        while (reader.skipTo("\"}") == '"') {
            String name = reader.string();
            reader.skipTo("\"");
            values.put(name, reader.string());
        }
        return values;
    }

    private Event<Optional<Payload>> event() {
        Map<String, String> values = new HashMap<>();
        Optional<byte[]> data = Optional.empty();
        while (skipTo("\"}") == '"') {
            String name = string();
            skipTo(":");
            next++;
            if (name.equals("data")) {
                data = Optional.of(Arrays.copyOfRange(bytes, next, bytes.length - 1));
                break;
            }
            boolean quoted = skipSpaces() == '"';
            String value = quoted ? string() : word();
            if (quoted || !value.equals("null")) values.put(name, value);
        }
        String base64 = values.get("base64");
        String plannedAt = values.get("plannedAt");
        if (base64 != null) data = Optional.of(Base64.getDecoder().decode(base64));
        return new Event<>(
                new EventId(UUID.fromString(value(values, "id"))),
                value(values, "topic"),
                value(values, "type"),
                values.get("key"),
                Long.parseLong(value(values, "version")),
                Instant.parse(value(values, "publishedAt")),
                values.get("schedule"),
                plannedAt == null ? null : Instant.parse(plannedAt),
                data.map(found -> new Payload(found, value(values, "codec"))));
    }

    private static String value(Map<String, String> values, String name) {
        String value = values.get(name);
        if (value == null) throw new IllegalArgumentException(name + " is missing");
        return value;
    }

    private char skipTo(String ends) {
        while (ends.indexOf((char) bytes[next]) < 0) next++;
        return (char) bytes[next];
    }

    private char skipSpaces() {
        while (bytes[next] == ' ') next++;
        return (char) bytes[next];
    }

    /** Reads a number or null. */
    private String word() {
        int from = next;
        skipTo(",} ");
        return new String(bytes, from, next - from, UTF_8);
    }

    /** Reads a string from its first quote to behind its last one. */
    private String string() {
        StringBuilder text = new StringBuilder();
        int from = ++next;
        while (bytes[next] != '"') {
            if (bytes[next] != '\\') {
                next++;
                continue;
            }
            text.append(new String(bytes, from, next - from, UTF_8));
            text.append(escaped());
            from = next;
        }
        text.append(new String(bytes, from, next - from, UTF_8));
        next++;
        return text.toString();
    }

    private char escaped() {
        char kind = (char) bytes[next + 1];
        if (kind == 'u') {
            next += 6;
            return (char) Integer.parseInt(new String(bytes, next - 4, 4, UTF_8), 16);
        }
        next += 2;
        return switch (kind) {
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'b' -> '\b';
            case 'f' -> '\f';
            default -> kind;
        };
    }
}
