package io.carillon.bench.raw;

import io.carillon.bench.server.BenchDatabase;
import io.carillon.internal.value.Uuid7;
import io.carillon.internal.value.WallClock;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.HexFormat;
import java.util.UUID;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;

/** Stores rows in {@code carillon.event_store} with COPY, 10,000 rows per commit. */
public final class RawEventCopy {
    private static final int CHUNK = 10_000;
    private static final String COPY =
            "COPY carillon.event_store (project, id, day, xid, topic, type, key, codec, data) FROM STDIN";

    private RawEventCopy() {}

    /** Returns the seconds it took, including the creation of the text. */
    public static double store(BenchDatabase database, int rows) throws SQLException, IOException {
        try (Connection connection = database.connect()) {
            CopyManager copy = connection.unwrap(PGConnection.class).getCopyAPI();
            long start = System.nanoTime();
            for (int from = 0; from < rows; from += CHUNK) {
                StringBuilder text = new StringBuilder();
                for (int i = from; i < Math.min(rows, from + CHUNK); i++) {
                    UUID id = Uuid7.next();
                    text.append("default\t").append(id).append('\t');
                    text.append(Instant.ofEpochMilli(WallClock.millis())
                            .atOffset(ZoneOffset.UTC)
                            .toLocalDate());
                    text.append("\t1000\torders\torder.placed\tk")
                            .append(i % 1_000)
                            .append("\tjson\t\\\\x");
                    HexFormat.of().formatHex(text, ("\"" + i + "\"").getBytes(StandardCharsets.UTF_8));
                    text.append('\n');
                }
                copy.copyIn(COPY, new StringReader(text.toString()));
            }
            return (System.nanoTime() - start) / 1e9;
        }
    }
}
