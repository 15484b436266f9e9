package io.carillon.run;

/** Turns users' values into bytes and back. Implementations are thread-safe and refuse what they could not give back unchanged. */
public interface PayloadCodec {
    /** The name stored beside the bytes. */
    String name();

    /** Encodes a value; throws a {@code CarillonException} with a pointer to the part that cannot be written. */
    byte[] encode(Object value);

    /** Decodes to a type; throws a {@code CarillonException} when the bytes do not fit it. */
    <T> T decode(byte[] bytes, Class<T> type);
}
