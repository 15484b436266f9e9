package io.carillon.bench.raw;

import io.carillon.bench.ours.BenchPayload;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.internal.value.Uuid7;
import java.io.IOException;
import java.io.StringReader;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.HexFormat;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;

/** Stores rows in {@code carillon.run} with COPY, 10,000 rows per commit. */
public final class RawCopy {
    private static final int CHUNK = 10_000;
    private static final String COPY = """
            COPY carillon.run (project, id, queue, priority, due_at, ready_at, day, origin, target, target_name, codec,
              payload) FROM STDIN
            """;

    private RawCopy() {}

    /**
     * Stores due rows. Returns the seconds it took, including the creation of the text, because an enqueue also creates
     * its payloads.
     */
    public static double store(BenchDatabase database, int rows) throws SQLException, IOException {
        return store(database, rows, Duration.ZERO);
    }

    /** Stores rows that are due after a delay. Returns the seconds it took. */
    public static double store(BenchDatabase database, int rows, Duration delay) throws SQLException, IOException {
        try (Connection connection = database.connect()) {
            RowDefaults rowDefaults = RowDefaults.read(connection);
            Instant due = rowDefaults.now().plus(delay);
            String day = due.atOffset(ZoneOffset.UTC).toLocalDate().toString();
            CopyManager copy = connection.unwrap(PGConnection.class).getCopyAPI();
            long start = System.nanoTime();
            for (int from = 0; from < rows; from += CHUNK) {
                StringBuilder text = new StringBuilder();
                for (int i = from; i < Math.min(rows, from + CHUNK); i++) row(text, rowDefaults, due, day, i);
                copy.copyIn(COPY, new StringReader(text.toString()));
            }
            return (System.nanoTime() - start) / 1e9;
        }
    }

    private static void row(StringBuilder text, RowDefaults rowDefaults, Instant due, String day, int number) {
        text.append("default\t")
                .append(Uuid7.next())
                .append('\t')
                .append(BenchPayload.QUEUE)
                .append('\t');
        text.append(rowDefaults.priority())
                .append('\t')
                .append(due)
                .append('\t')
                .append(due)
                .append('\t')
                .append(day);
        text.append("\tdirect\thandler\t").append(BenchPayload.TYPE.name()).append("\tjson\t\\\\x");
        HexFormat.of().formatHex(text, BenchPayload.json(number));
        text.append('\n');
    }
}
