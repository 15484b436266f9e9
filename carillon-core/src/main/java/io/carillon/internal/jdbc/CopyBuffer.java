package io.carillon.internal.jdbc;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.temporal.ChronoUnit;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyIn;

/** Rows for COPY in its binary form: each field is a length and the bytes. */
public final class CopyBuffer {
    private static final int BUFFER_SIZE = 64 * 1024;
    private static final Instant POSTGRES_EPOCH = Instant.parse("2000-01-01T00:00:00Z");
    private static final LocalDate POSTGRES_EPOCH_DAY = LocalDate.of(2000, 1, 1);
    private static final byte[] HEADER = {
        'P', 'G', 'C', 'O', 'P', 'Y', '\n', (byte) 0xff, '\r', '\n', 0, 0, 0, 0, 0, 0, 0, 0, 0
    };
    private static final byte[] TRAILER = {-1, -1};

    /** Writes all rows. */
    @FunctionalInterface
    public interface RowWriter {
        void write(CopyBuffer rows) throws SQLException;
    }

    private final CopyIn in;
    private ByteBuffer bytes = ByteBuffer.allocate(BUFFER_SIZE);

    private CopyBuffer(CopyIn in) {
        this.in = in;
    }

    /** Returns whether this is a plain PostgreSQL connection, which supports COPY. */
    public static boolean isSupported(Connection connection) throws SQLException {
        return connection.isWrapperFor(PGConnection.class);
    }

    /** Executes a statement {@code COPY … FROM STDIN (FORMAT binary)}. */
    public static void copy(Connection connection, String sql, RowWriter rows) throws SQLException {
        CopyIn in = connection.unwrap(PGConnection.class).getCopyAPI().copyIn(sql);
        try {
            CopyBuffer buffer = new CopyBuffer(in);
            buffer.raw(HEADER);
            rows.write(buffer);
            buffer.raw(TRAILER);
            buffer.flush();
            in.endCopy();
        } finally {
            if (in.isActive()) in.cancelCopy();
        }
    }

    private void raw(byte[] value) throws SQLException {
        ensureCapacity(value.length).put(value);
    }

    public void columns(short count) throws SQLException {
        ensureCapacity(2).putShort(count);
    }

    public void text(String value) throws SQLException {
        bytes(value.getBytes(StandardCharsets.UTF_8));
    }

    public void maybeText(@Nullable String value) throws SQLException {
        if (value == null) ensureCapacity(4).putInt(-1);
        else text(value);
    }

    public void bytes(byte[] value) throws SQLException {
        ensureCapacity(4 + value.length).putInt(value.length).put(value);
    }

    public void uuid(UUID value) throws SQLException {
        ensureCapacity(20).putInt(16).putLong(value.getMostSignificantBits()).putLong(value.getLeastSignificantBits());
    }

    public void smallint(int value) throws SQLException {
        ensureCapacity(6).putInt(2).putShort((short) value);
    }

    public void number(long value) throws SQLException {
        ensureCapacity(12).putInt(8).putLong(value);
    }

    public void instant(Instant value) throws SQLException {
        ensureCapacity(12).putInt(8).putLong(ChronoUnit.MICROS.between(POSTGRES_EPOCH, value));
    }

    public void date(LocalDate value) throws SQLException {
        ensureCapacity(8).putInt(4).putInt((int) ChronoUnit.DAYS.between(POSTGRES_EPOCH_DAY, value));
    }

    private ByteBuffer ensureCapacity(int size) throws SQLException {
        if (bytes.remaining() < size) {
            flush();
            if (bytes.capacity() < size) bytes = ByteBuffer.allocate(size);
        }
        return bytes;
    }

    private void flush() throws SQLException {
        in.writeToCopy(bytes.array(), 0, bytes.position());
        bytes.clear();
    }
}
