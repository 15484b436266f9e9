package io.carillon.testkit.internal.proxy;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * A message of the PostgreSQL protocol, version 3: a type byte, a length and a body. The first messages of a client
 * have no type.
 */
public final class ProtocolMessage {
    static final char NO_TYPE = 0;
    private static final int LENGTH_SIZE = 4;
    private static final int MAX_LENGTH = 1 << 30;

    private final char type;
    private final byte[] body;

    ProtocolMessage(char type, byte[] body) {
        this.type = type;
        this.body = body;
    }

    /** Reads a message with a type. */
    public static ProtocolMessage read(DataInputStream in) throws IOException {
        return new ProtocolMessage((char) in.readUnsignedByte(), body(in));
    }

    /** Reads one of the first messages of a client, which have no type. */
    public static ProtocolMessage readFirst(DataInputStream in) throws IOException {
        return new ProtocolMessage(NO_TYPE, body(in));
    }

    private static byte[] body(DataInputStream in) throws IOException {
        int length = in.readInt() - LENGTH_SIZE;
        if (length < 0 || length > MAX_LENGTH)
            throw new IOException("not a PostgreSQL protocol message: length " + length);
        byte[] body = new byte[length];
        in.readFully(body);
        return body;
    }

    public void writeTo(OutputStream out) throws IOException {
        if (type != NO_TYPE) out.write(type);
        out.write(ByteBuffer.allocate(LENGTH_SIZE)
                .putInt(body.length + LENGTH_SIZE)
                .array());
        out.write(body);
    }

    char type() {
        return type;
    }

    /** Returns the byte at this offset of the body as a character. */
    char charAt(int offset) {
        return (char) body[offset];
    }

    public int firstInt() {
        return ByteBuffer.wrap(body).getInt();
    }

    /** Returns the n-th zero-terminated text that follows an offset of the body. */
    String cString(int offset, int n) {
        int start = offset;
        for (int i = 0; ; i++) {
            int end = start;
            while (body[end] != 0) end++;
            if (i == n) return new String(body, start, end - start, StandardCharsets.UTF_8);
            start = end + 1;
        }
    }
}
