package io.carillon.run;

import java.util.Arrays;

/** Encoded bytes and the name of the codec that wrote them. Equal bytes of equal codecs are equal. */
@SuppressWarnings("ArrayRecordComponent") // compared by content below; copying every payload would cost the hot path
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
        // Payloads are users' data: their content never reaches a log by way of a record's toString.
        return "Payload[" + bytes.length + " bytes of " + codec + "]";
    }
}
