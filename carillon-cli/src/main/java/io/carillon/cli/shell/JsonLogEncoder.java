package io.carillon.cli.shell;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.encoder.EncoderBase;
import io.carillon.internal.value.ControlCharacters;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Encodes each log event as one JSON object on its own line. All control characters are escaped: JSON requires it for
 * some only, but people read the line in a terminal.
 */
final class JsonLogEncoder extends EncoderBase<ILoggingEvent> {
    private static final byte[] NO_BYTES = {};

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
                .put("message", event.getFormattedMessage());
        for (Map.Entry<String, String> known : new TreeMap<>(event.getMDCPropertyMap()).entrySet())
            line.put(known.getKey(), known.getValue());
        if (event.getThrowableProxy() != null)
            line.put("stack", ThrowableProxyUtil.asString(event.getThrowableProxy()));
        return (ControlCharacters.escape(json.writeValueAsString(line)) + "\n").getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public byte[] footerBytes() {
        return NO_BYTES;
    }
}
