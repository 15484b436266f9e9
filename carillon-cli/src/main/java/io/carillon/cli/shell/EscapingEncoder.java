package io.carillon.cli.shell;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.encoder.Encoder;
import ch.qos.logback.core.encoder.EncoderBase;

/** Passes each event to another encoder as an {@link EscapedEvent}. */
final class EscapingEncoder extends EncoderBase<ILoggingEvent> {
    private final Encoder<ILoggingEvent> encoder;

    EscapingEncoder(Encoder<ILoggingEvent> encoder) {
        this.encoder = encoder;
    }

    @Override
    public byte[] headerBytes() {
        return encoder.headerBytes();
    }

    @Override
    public byte[] encode(ILoggingEvent event) {
        return encoder.encode(new EscapedEvent(event));
    }

    @Override
    public byte[] footerBytes() {
        return encoder.footerBytes();
    }
}
