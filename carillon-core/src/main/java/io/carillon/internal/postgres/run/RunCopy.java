package io.carillon.internal.postgres.run;

import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.DatabaseTime;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.jdbc.StorageException;
import io.carillon.internal.postgres.sql.RunInsert;
import io.carillon.internal.postgres.wakeup.PostgresWakeChannel;
import io.carillon.internal.run.Lane;
import io.carillon.internal.run.NewRun;
import io.carillon.run.Enqueue;
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
 * An insert of many runs by COPY in its binary form: the server reads one part while the client writes the next. Only
 * for runs without a unique key, because COPY cannot handle conflicts.
 */
final class RunCopy {
    private static final int MIN_RUNS = 1_000;
    private static final int BUFFER_SIZE = 64 * 1024;
    private static final Instant POSTGRES_EPOCH = Instant.parse("2000-01-01T00:00:00Z");
    private static final LocalDate POSTGRES_EPOCH_DAY = LocalDate.of(2000, 1, 1);
    private static final byte[] HEADER = {
        'P', 'G', 'C', 'O', 'P', 'Y', '\n', (byte) 0xff, '\r', '\n', 0, 0, 0, 0, 0, 0, 0, 0, 0
    };
    private static final byte[] TRAILER = {-1, -1};

    private static final String CLOCK = "SELECT carillon.clock() AS now";

    private static final String COPY = "COPY carillon.run " + RunInsert.columns() + " FROM STDIN (FORMAT binary)";

    private static final short COLUMNS = 13;

    private final Database database;

    RunCopy(Database database) {
        this.database = database;
    }

    boolean supports(List<NewRun> runs) {
        return runs.size() >= MIN_RUNS
                && runs.stream()
                        .allMatch(run -> run.uniqueKey() == null && run.schedule() == null && run.gate() == null);
    }

    /**
     * Returns false if nothing was stored, because the connection is not a plain PostgreSQL connection or some runs
     * exist already; the caller then inserts the runs in another way, which finds out.
     */
    boolean store(List<NewRun> runs, boolean notifyNodes) {
        try {
            return database.transaction(session -> {
                if (!session.connection().isWrapperFor(PGConnection.class)) return false;
                Instant now =
                        session.query(CLOCK).first(row -> row.instant("now")).orElseThrow();
                copy(session, runs, now);
                if (notifyNodes) PostgresWakeChannel.notifyWork(session, earliestDueTimes(runs, now));
                return true;
            });
        } catch (StorageException failure) {
            // An earlier try was committed and its answer was lost, or the slower way will report the reason of the
            // failure, or this user does not own the table, and COPY does not work with row-level security.
            if (failure.isUniqueViolation() || failure.isUnsupported()) return false;
            throw failure;
        }
    }

    private static Map<Lane, Instant> earliestDueTimes(List<NewRun> runs, Instant now) {
        Map<Lane, Instant> lanes = new LinkedHashMap<>();
        for (NewRun run : runs) lanes.merge(run.lane(), dueAt(run, now), (a, b) -> a.isBefore(b) ? a : b);
        lanes.replaceAll((lane, at) -> at.isAfter(now) ? at : Instant.EPOCH);
        return lanes;
    }

    private static void copy(Session session, List<NewRun> runs, Instant now) throws SQLException {
        CopyIn in = session.connection().unwrap(PGConnection.class).getCopyAPI().copyIn(COPY);
        try {
            CopyBuffer copyBuffer = new CopyBuffer(in);
            copyBuffer.raw(HEADER);
            for (NewRun run : runs) writeRow(copyBuffer, run, now);
            copyBuffer.raw(TRAILER);
            copyBuffer.flush();
            in.endCopy();
        } finally {
            if (in.isActive()) in.cancelCopy();
        }
    }

    private static void writeRow(CopyBuffer copyBuffer, NewRun run, Instant now) throws SQLException {
        Instant due = dueAt(run, now);
        copyBuffer.columns(COLUMNS);
        copyBuffer.text(run.lane().project());
        copyBuffer.text(run.lane().queue());
        copyBuffer.smallint(run.priority().number());
        copyBuffer.text(run.target().kind());
        copyBuffer.text(run.target().name());
        copyBuffer.text(run.payload().codec());
        copyBuffer.bytes(run.payload().bytes());
        copyBuffer.maybeText(run.headers());
        copyBuffer.uuid(run.id().value());
        copyBuffer.text(run.origin().text());
        copyBuffer.instant(due);
        copyBuffer.instant(due);
        copyBuffer.date(LocalDate.ofInstant(due.isAfter(now) ? due : now, ZoneOffset.UTC));
    }

    private static Instant dueAt(NewRun run, Instant now) {
        if (run.due() instanceof Enqueue.Due.At at) return DatabaseTime.rounded(at.instant());
        return DatabaseTime.rounded(now.plus(((Enqueue.Due.After) run.due()).delay()));
    }

    /** A buffer of fields as PostgreSQL reads them: a length and the bytes. */
    private static final class CopyBuffer {
        private final CopyIn in;
        private ByteBuffer bytes = ByteBuffer.allocate(BUFFER_SIZE);

        CopyBuffer(CopyIn in) {
            this.in = in;
        }

        void raw(byte[] value) throws SQLException {
            ensureCapacity(value.length).put(value);
        }

        void columns(short count) throws SQLException {
            ensureCapacity(2).putShort(count);
        }

        void text(String value) throws SQLException {
            bytes(value.getBytes(StandardCharsets.UTF_8));
        }

        void maybeText(@Nullable String value) throws SQLException {
            if (value == null) ensureCapacity(4).putInt(-1);
            else text(value);
        }

        void bytes(byte[] value) throws SQLException {
            ensureCapacity(4 + value.length).putInt(value.length).put(value);
        }

        void uuid(UUID value) throws SQLException {
            ensureCapacity(20)
                    .putInt(16)
                    .putLong(value.getMostSignificantBits())
                    .putLong(value.getLeastSignificantBits());
        }

        void smallint(int value) throws SQLException {
            ensureCapacity(6).putInt(2).putShort((short) value);
        }

        void instant(Instant value) throws SQLException {
            ensureCapacity(12).putInt(8).putLong(ChronoUnit.MICROS.between(POSTGRES_EPOCH, value));
        }

        void date(LocalDate value) throws SQLException {
            ensureCapacity(8).putInt(4).putInt((int) ChronoUnit.DAYS.between(POSTGRES_EPOCH_DAY, value));
        }

        private ByteBuffer ensureCapacity(int size) throws SQLException {
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
