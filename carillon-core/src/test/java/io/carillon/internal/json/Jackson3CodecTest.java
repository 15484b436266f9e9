package io.carillon.internal.json;

/** The codec with Jackson 3, in the version of the class path. */
class Jackson3CodecTest extends JsonCodecContract {
    @Override
    JsonLibrary library() {
        return new Jackson3();
    }
}
