package io.carillon.internal.json;

/** The codec with Jackson 2, in the version of the class path. */
class Jackson2CodecTest extends JsonCodecContract {
    @Override
    JsonLibrary library() {
        return new Jackson2();
    }
}
