package io.carillon.postgres;

import io.carillon.postgres.sql.NewRunRows;
import io.carillon.run.Enqueue;
import io.carillon.run.Lane;
import io.carillon.run.NewRun;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyIn;

/**
 * Stores many runs by COPY in its binary form: the server takes in one part while the next is being written. For runs without a key only, because COPY
 * knows no conflicts.
 */
final class RunCopy {
    private static final int WORTH_IT = 1_000;
    private static final int BUFFER = 64 * 1024;
    private static final Instant EPOCH = Instant.parse("2000-01-01T00:00:00Z");
    private static final LocalDate EPOCH_DAY = LocalDate.of(2000, 1, 1);
    private static final byte[] HEADER = {
        'P', 'G', 'C', 'O', 'P', 'Y', '\n', (byte) 0xff, '\r', '\n', 0, 0, 0, 0, 0, 0, 0, 0, 0
    };
    private static final byte[] TRAILER = {-1, -1};

    private static final String CLOCK = "SELECT carillon.clock() AS now";

    private static final String COPY = "COPY carillon.run " + NewRunRows.columns() + " FROM STDIN (FORMAT binary)";

    private static final short COLUMNS = 13;

    private final Database database;

    RunCopy(Database database) {
        this.database = database;
    }

    boolean takes(List<NewRun> runs) {
        return runs.size() >= WORTH_IT
                && runs.stream().allMatch(run -> run.key() == null && run.schedule() == null && run.gate() == null);
    }

    /** False: nothing was stored, because the connection is no plain one or some are there already; another way finds out. */
    boolean store(List<NewRun> runs, boolean tell) {
        try {
            return database.transaction(session -> {
                if (!session.connection().isWrapperFor(PGConnection.class)) return false;
                Instant now =
                        session.query(CLOCK).first(row -> row.instant("now")).orElseThrow();
                copy(session, runs, now);
                if (tell) WakeRepository.tell(session, earliest(runs, now));
                return true;
            });
        } catch (StorageException failure) {
            // An earlier try of ours was accepted and its answer lost, or it failed for a reason the slow way explains,
            // or
            // this user does not own the table, and COPY does not go together with row-level security.
            if (failure.duplicate() || failure.unsupported()) return false;
            throw failure;
        }
    }

    private static Map<Lane, Instant> earliest(List<NewRun> runs, Instant now) {
        Map<Lane, Instant> lanes = new LinkedHashMap<>();
        for (NewRun run : runs) lanes.merge(run.lane(), dueAt(run, now), (a, b) -> a.isBefore(b) ? a : b);
        lanes.replaceAll((lane, at) -> at.isAfter(now) ? at : Instant.EPOCH);
        return lanes;
    }

    private static void copy(Session session, List<NewRun> runs, Instant now) throws SQLException {
        CopyIn in = session.connection().unwrap(PGConnection.class).getCopyAPI().copyIn(COPY);
        try {
            Buffer buffer = new Buffer(in);
            buffer.raw(HEADER);
            for (NewRun run : runs) row(buffer, run, now);
            buffer.raw(TRAILER);
            buffer.flush();
            in.endCopy();
        } finally {
            if (in.isActive()) in.cancelCopy();
        }
    }

    private static void row(Buffer buffer, NewRun run, Instant now) throws SQLException {
        Instant due = dueAt(run, now);
        buffer.columns(COLUMNS);
        buffer.text(run.lane().project());
        buffer.text(run.lane().queue());
        buffer.smallint(run.priority().number());
        buffer.text(run.target().kind());
        buffer.text(run.target().name());
        buffer.text(run.payload().codec());
        buffer.bytes(run.payload().bytes());
        buffer.maybeText(run.trace());
        buffer.uuid(run.id().value());
        buffer.text(run.origin().text());
        buffer.instant(due);
        buffer.instant(due);
        buffer.date(LocalDate.ofInstant(due.isAfter(now) ? due : now, ZoneOffset.UTC));
    }

    private static Instant dueAt(NewRun run, Instant now) {
        if (run.due() instanceof Enqueue.Due.At at) return DatabaseTime.rounded(at.instant());
        return DatabaseTime.rounded(now.plus(((Enqueue.Due.After) run.due()).delay()));
    }

    /** Fields as PostgreSQL reads them: a length and the bytes. */
    private static final class Buffer {
        private final CopyIn in;
        private ByteBuffer bytes = ByteBuffer.allocate(BUFFER);

        Buffer(CopyIn in) {
            this.in = in;
        }

        void raw(byte[] value) throws SQLException {
            room(value.length).put(value);
        }

        void columns(short count) throws SQLException {
            room(2).putShort(count);
        }

        void text(String value) throws SQLException {
            bytes(value.getBytes(StandardCharsets.UTF_8));
        }

        void maybeText(@Nullable String value) throws SQLException {
            if (value == null) room(4).putInt(-1);
            else text(value);
        }

        void bytes(byte[] value) throws SQLException {
            room(4 + value.length).putInt(value.length).put(value);
        }

        void uuid(UUID value) throws SQLException {
            room(20).putInt(16).putLong(value.getMostSignificantBits()).putLong(value.getLeastSignificantBits());
        }

        void smallint(int value) throws SQLException {
            room(6).putInt(2).putShort((short) value);
        }

        void instant(Instant value) throws SQLException {
            room(12).putInt(8).putLong(ChronoUnit.MICROS.between(EPOCH, value));
        }

        void date(LocalDate value) throws SQLException {
            room(8).putInt(4).putInt((int) ChronoUnit.DAYS.between(EPOCH_DAY, value));
        }

        private ByteBuffer room(int size) throws SQLException {
            if (bytes.remaining() < size) {
                flush();
                if (bytes.capacity() < size) bytes = ByteBuffer.allocate(size);
            }
            return bytes;
        }

        void flush() throws SQLException {
            in.writeToCopy(bytes.array(), 0, bytes.position());
            bytes.clear();
        }
    }
}
