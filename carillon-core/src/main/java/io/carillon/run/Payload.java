package io.carillon.run;

import java.util.Arrays;

/**
 * Encoded bytes and the name of their codec. Payloads are equal if their bytes and codecs are equal. The array
 * is not copied.
 */
@SuppressWarnings("ArrayRecordComponent") // equals compares the content; the array is not copied, for speed
public record Payload(byte[] bytes, String codec) {
    @Override
    public boolean equals(Object other) {
        return other instanceof Payload that && codec.equals(that.codec) && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(bytes) + codec.hashCode();
    }

    @Override
    public String toString() {
        // Payloads contain user data, which must not appear in logs.
        return "Payload[" + bytes.length + " bytes of " + codec + "]";
    }
}
