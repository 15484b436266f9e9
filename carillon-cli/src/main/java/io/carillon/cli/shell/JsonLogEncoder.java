package io.carillon.cli.shell;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.encoder.EncoderBase;
import io.carillon.internal.value.ControlCharacters;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.helpers.MessageFormatter;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Encodes each log event as one JSON object on its own line. A pair {@code name={}} of the message becomes a field: the
 * message is then the constant text of the event. All control characters are escaped: JSON requires it for some only,
 * but people read the line in a terminal.
 */
final class JsonLogEncoder extends EncoderBase<ILoggingEvent> {
    private static final byte[] NO_BYTES = {};
    /** A placeholder with its name, if it has one. The name comes from the constant text, never from a caller. */
    private static final Pattern PLACEHOLDER = Pattern.compile(" ?\\b([A-Za-z_][A-Za-z0-9_]*)='?\\{}'?|\\{}");

    private final JsonMapper json = new JsonMapper();

    @Override
    public byte[] headerBytes() {
        return NO_BYTES;
    }

    @Override
    public byte[] encode(ILoggingEvent event) {
        ObjectNode line = json.createObjectNode()
                .put("at", Instant.ofEpochMilli(event.getTimeStamp()).toString())
                .put("level", event.getLevel().toString())
                .put("logger", event.getLoggerName())
                .put("thread", event.getThreadName())
                .put("message", "");
        line.put("message", message(event, line));
        for (Map.Entry<String, String> known : new TreeMap<>(event.getMDCPropertyMap()).entrySet())
            line.put(free(line, known.getKey()), known.getValue());
        if (event.getThrowableProxy() != null)
            line.put("stack", ThrowableProxyUtil.asString(event.getThrowableProxy()));
        return (ControlCharacters.escape(json.writeValueAsString(line)) + "\n").getBytes(StandardCharsets.UTF_8);
    }

    /** Adds the pairs of the message as fields, and returns the rest of the message. */
    private static String message(ILoggingEvent event, ObjectNode line) {
        Object[] arguments = event.getArgumentArray();
        String template = event.getMessage();
        if (arguments == null || template == null) return event.getFormattedMessage();
        StringBuilder rest = new StringBuilder();
        List<Object> unnamed = new ArrayList<>();
        Matcher placeholders = PLACEHOLDER.matcher(template);
        int next = 0;
        while (placeholders.find() && next < arguments.length) {
            Object argument = arguments[next++];
            String name = placeholders.group(1);
            if (name == null) unnamed.add(argument);
            else put(line, free(line, name), argument);
            placeholders.appendReplacement(rest, name == null ? "{}" : "");
        }
        placeholders.appendTail(rest);
        return MessageFormatter.arrayFormat(rest.toString().strip(), unnamed.toArray())
                .getMessage();
    }

    /** Returns the name, or another one if the line has it already. */
    private static String free(ObjectNode line, String name) {
        return line.has(name) ? name + "_" : name;
    }

    private static void put(ObjectNode line, String name, @Nullable Object value) {
        if (value instanceof Integer || value instanceof Long) line.put(name, ((Number) value).longValue());
        else if (value instanceof Boolean flag) line.put(name, flag);
        else line.put(name, value == null ? null : String.valueOf(value));
    }

    @Override
    public byte[] footerBytes() {
        return NO_BYTES;
    }
}
