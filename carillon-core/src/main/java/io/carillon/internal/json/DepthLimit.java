package io.carillon.internal.json;

import com.fasterxml.jackson.core.JsonGenerationException;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.JsonGeneratorDelegate;
import java.io.IOException;

/** Limits the depth of what Jackson 2 writes. Jackson 2.15 has no such limit, later versions have another one. */
final class DepthLimit extends JsonGeneratorDelegate {

    /** The value has too many nested objects and arrays. */
    static final class Exceeded extends JsonGenerationException {
        private static final long serialVersionUID = 1L;

        private Exceeded(JsonGenerator generator) {
            super("nesting depth exceeds the maximum of " + JsonLibrary.MAX_DEPTH, generator);
        }
    }

    private int depth;

    DepthLimit(JsonGenerator generator) {
        // Does not let the generator write nested values by itself.
        super(generator, false);
    }

    private void open() throws IOException {
        if (++depth > JsonLibrary.MAX_DEPTH) throw new Exceeded(this);
    }

    @Override
    public void writeStartArray() throws IOException {
        open();
        super.writeStartArray();
    }

    @Override
    @SuppressWarnings("deprecation") // serializers of older modules still call it
    public void writeStartArray(int size) throws IOException {
        open();
        super.writeStartArray(size);
    }

    @Override
    public void writeStartArray(Object value) throws IOException {
        open();
        super.writeStartArray(value);
    }

    @Override
    public void writeStartArray(Object value, int size) throws IOException {
        open();
        super.writeStartArray(value, size);
    }

    @Override
    public void writeEndArray() throws IOException {
        depth--;
        super.writeEndArray();
    }

    @Override
    public void writeStartObject() throws IOException {
        open();
        super.writeStartObject();
    }

    @Override
    public void writeStartObject(Object value) throws IOException {
        open();
        super.writeStartObject(value);
    }

    @Override
    public void writeStartObject(Object value, int size) throws IOException {
        open();
        super.writeStartObject(value, size);
    }

    @Override
    public void writeEndObject() throws IOException {
        depth--;
        super.writeEndObject();
    }
}
