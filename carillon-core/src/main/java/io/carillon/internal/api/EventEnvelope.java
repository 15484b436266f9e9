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
 * large. The database writes it; the headers are the only nested value before the data. The bytes of the data are
 * returned as they are, so that numbers keep all digits, and no JSON library is needed.
 */
final class EventEnvelope {
    private final byte[] bytes;
    private final Map<String, String> values = new HashMap<>();
    private Map<String, String> headers = Map.of();
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

    /**
     * The values of the payload of a tick that publishes an event.
     *
     * @param values without the headers
     */
    record TickPayload(Map<String, String> values, Map<String, String> headers) {}

    /** Reads the payload of a tick, whose data is a string. */
    static TickPayload parseTick(byte[] bytes) {
        EventEnvelope reader = new EventEnvelope(bytes);
        reader.readAll(false);
        return new TickPayload(reader.values, reader.headers);
    }

    /** Reads all values up to the data, whose bytes are returned as they are if {@code dataIsLast}. */
    private Optional<byte[]> readAll(boolean dataIsLast) {
        while (skipTo("\"}") == '"') {
            String name = string();
            skipTo(":");
            next++;
            if (dataIsLast && name.equals("data"))
                return Optional.of(Arrays.copyOfRange(bytes, next, bytes.length - 1));
            char first = skipSpaces();
            if (first == '{') headers = object();
            else {
                String value = first == '"' ? string() : word();
                if (first == '"' || !value.equals("null")) values.put(name, value);
            }
        }
        return Optional.empty();
    }

    /** Reads an object all of whose values are strings. */
    private Map<String, String> object() {
        Map<String, String> strings = new HashMap<>();
        next++;
        while (skipTo("\"}") == '"') {
            String name = string();
            skipTo("\"");
            strings.put(name, string());
        }
        next++;
        return strings;
    }

    private Event<Optional<Payload>> event() {
        Optional<byte[]> data = readAll(true);
        String base64 = values.get("base64");
        String plannedAt = values.get("plannedAt");
        if (base64 != null) data = Optional.of(Base64.getDecoder().decode(base64));
        return new Event<>(
                new EventId(UUID.fromString(value("id"))),
                value("topic"),
                value("type"),
                values.get("key"),
                Long.parseLong(value("version")),
                Instant.parse(value("publishedAt")),
                values.get("schedule"),
                plannedAt == null ? null : Instant.parse(plannedAt),
                headers,
                data.map(found -> new Payload(found, value("codec"))));
    }

    private String value(String name) {
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
