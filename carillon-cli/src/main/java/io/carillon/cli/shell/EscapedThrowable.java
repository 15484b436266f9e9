package io.carillon.cli.shell;

import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.StackTraceElementProxy;
import io.carillon.internal.value.ControlCharacters;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** An exception in the log whose messages, also those of its causes, contain no control characters. */
record EscapedThrowable(IThrowableProxy thrown) implements IThrowableProxy {
    static @Nullable IThrowableProxy of(@Nullable IThrowableProxy thrown) {
        return thrown == null ? null : new EscapedThrowable(thrown);
    }

    @Override
    public @Nullable String getMessage() {
        String message = thrown.getMessage();
        return message == null ? null : ControlCharacters.escape(message);
    }

    @Override
    public @Nullable String getOverridingMessage() {
        String message = thrown.getOverridingMessage();
        return message == null ? null : ControlCharacters.escape(message);
    }

    @Override
    public String getClassName() {
        return thrown.getClassName();
    }

    @Override
    public StackTraceElementProxy[] getStackTraceElementProxyArray() {
        return thrown.getStackTraceElementProxyArray();
    }

    @Override
    public int getCommonFrames() {
        return thrown.getCommonFrames();
    }

    @Override
    public @Nullable IThrowableProxy getCause() {
        return of(thrown.getCause());
    }

    @Override
    public IThrowableProxy @Nullable [] getSuppressed() {
        IThrowableProxy[] suppressed = thrown.getSuppressed();
        return suppressed == null
                ? null
                : Arrays.stream(suppressed).map(EscapedThrowable::new).toArray(IThrowableProxy[]::new);
    }

    @Override
    public boolean isCyclic() {
        return thrown.isCyclic();
    }
}
