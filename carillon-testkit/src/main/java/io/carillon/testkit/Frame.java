package io.carillon.testkit;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** One message of PostgreSQL's protocol (version 3): a letter, a length and a body. The first ones of a client have no letter. */
final class Frame {
    static final char NO_LETTER = 0;
    private static final int LENGTH_SIZE = 4;
    private static final int LARGEST = 1 << 30;

    private final char letter;
    private final byte[] body;

    Frame(char letter, byte[] body) {
        this.letter = letter;
        this.body = body;
    }

    /** Reads a message with a letter. */
    static Frame read(DataInputStream in) throws IOException {
        return new Frame((char) in.readUnsignedByte(), body(in));
    }

    /** Reads one of a client's first messages. */
    static Frame readFirst(DataInputStream in) throws IOException {
        return new Frame(NO_LETTER, body(in));
    }

    private static byte[] body(DataInputStream in) throws IOException {
        int length = in.readInt() - LENGTH_SIZE;
        if (length < 0 || length > LARGEST) throw new IOException("not PostgreSQL's protocol: length " + length);
        byte[] body = new byte[length];
        in.readFully(body);
        return body;
    }

    void writeTo(OutputStream out) throws IOException {
        if (letter != NO_LETTER) out.write(letter);
        out.write(ByteBuffer.allocate(LENGTH_SIZE)
                .putInt(body.length + LENGTH_SIZE)
                .array());
        out.write(body);
    }

    char letter() {
        return letter;
    }

    /** The body's byte at this place, as a letter. */
    char charAt(int offset) {
        return (char) body[offset];
    }

    int firstInt() {
        return ByteBuffer.wrap(body).getInt();
    }

    /** The n-th of the zero-terminated texts that begin at an offset of the body. */
    String text(int offset, int n) {
        int start = offset;
        for (int i = 0; ; i++) {
            int end = start;
            while (body[end] != 0) end++;
            if (i == n) return new String(body, start, end - start, StandardCharsets.UTF_8);
            start = end + 1;
        }
    }
}
