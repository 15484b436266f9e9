package io.carillon.cli.shell;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.LoggerContextVO;
import io.carillon.internal.value.ControlCharacters;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Marker;
import org.slf4j.event.KeyValuePair;

/**
 * A log event whose texts contain no control characters: callers cannot forge a line of the log or send commands to the
 * terminal that shows it. Only the stack trace, which an encoder writes after the message, has several lines.
 */
record EscapedEvent(ILoggingEvent event) implements ILoggingEvent {
    @Override
    public String getThreadName() {
        return ControlCharacters.escape(event.getThreadName());
    }

    @Override
    public Level getLevel() {
        return event.getLevel();
    }

    @Override
    public String getMessage() {
        return ControlCharacters.escape(event.getMessage());
    }

    /** Returns null: the formatted message already contains the arguments. */
    @Override
    public Object @Nullable [] getArgumentArray() {
        return null;
    }

    @Override
    public String getFormattedMessage() {
        return ControlCharacters.escape(event.getFormattedMessage());
    }

    @Override
    public String getLoggerName() {
        return ControlCharacters.escape(event.getLoggerName());
    }

    @Override
    public LoggerContextVO getLoggerContextVO() {
        return event.getLoggerContextVO();
    }

    @Override
    public @Nullable IThrowableProxy getThrowableProxy() {
        return EscapedThrowable.of(event.getThrowableProxy());
    }

    @Override
    public StackTraceElement[] getCallerData() {
        return event.getCallerData();
    }

    @Override
    public boolean hasCallerData() {
        return event.hasCallerData();
    }

    @Override
    public List<Marker> getMarkerList() {
        return event.getMarkerList();
    }

    @Override
    public Map<String, String> getMDCPropertyMap() {
        return event.getMDCPropertyMap().entrySet().stream()
                .collect(Collectors.toMap(
                        entry -> ControlCharacters.escape(entry.getKey()),
                        entry -> ControlCharacters.escape(entry.getValue()),
                        (first, second) -> first));
    }

    @Override
    @Deprecated
    @SuppressWarnings("InlineMeSuggester")
    public Map<String, String> getMdc() {
        return getMDCPropertyMap();
    }

    @Override
    public long getTimeStamp() {
        return event.getTimeStamp();
    }

    @Override
    public int getNanoseconds() {
        return event.getNanoseconds();
    }

    @Override
    public Instant getInstant() {
        return event.getInstant();
    }

    @Override
    public long getSequenceNumber() {
        return event.getSequenceNumber();
    }

    @Override
    public List<KeyValuePair> getKeyValuePairs() {
        return event.getKeyValuePairs();
    }

    @Override
    public void prepareForDeferredProcessing() {
        event.prepareForDeferredProcessing();
    }
}
