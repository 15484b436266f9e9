package io.carillon.spi;

/**
 * Converts payloads and results to bytes and back. Implementations must be thread-safe, and must reject a value that
 * they could not decode to an equal value.
 */
public interface PayloadCodec {
    /** Returns the name that is stored with the bytes. */
    String name();

    /** Encodes a value. Throws a {@code CarillonException} that names the part of the value that cannot be encoded. */
    byte[] encode(Object value);

    /** Decodes bytes to a value of this type. Throws a {@code CarillonException} if the bytes do not match the type. */
    <T> T decode(byte[] bytes, Class<T> type);
}
