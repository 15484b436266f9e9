package io.carillon.bench.raw;

import io.carillon.bench.measure.Threads;
import io.carillon.bench.ours.BenchPayload;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.internal.value.Uuid7;
import io.carillon.run.Priority;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** Inserts single rows, one per commit, on several connections. */
public final class RawInserts {
    static final String INSERT = """
            INSERT INTO carillon.run
              (project, id, queue, priority, due_at, ready_at, day, origin, target, target_name, codec, payload)
            VALUES ('default', ?, ?, ?, carillon.clock(), carillon.clock(), (carillon.clock() AT TIME ZONE 'UTC')::date,
              'direct', 'handler', ?, 'json', ?)
            """;

    private RawInserts() {}

    /** Returns the rows per second. */
    public static double perSecond(BenchDatabase database, int threads, Duration time) {
        AtomicInteger number = new AtomicInteger();
        return Threads.runConcurrently(threads, () -> {
                    try (Connection connection = database.connect();
                            PreparedStatement insert = connection.prepareStatement(INSERT)) {
                        int rows = 0;
                        long start = System.nanoTime();
                        while (System.nanoTime() - start < time.toNanos()) {
                            insert(insert, number.incrementAndGet());
                            rows++;
                        }
                        return rows / ((System.nanoTime() - start) / 1e9);
                    }
                })
                .stream()
                .mapToDouble(Double::doubleValue)
                .sum();
    }

    /** Inserts one row on a pooled connection; the driver keeps the statement prepared. */
    public static void insert(Connection connection, int number) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
            insert(insert, number);
        }
    }

    private static void insert(PreparedStatement insert, int number) throws SQLException {
        bindRow(insert, number);
        insert.executeUpdate();
    }

    /** Sets the five parameters of a row. */
    static void bindRow(PreparedStatement insert, int number) throws SQLException {
        insert.setObject(1, Uuid7.next());
        insert.setString(2, BenchPayload.QUEUE);
        insert.setInt(3, Priority.NORMAL.number());
        insert.setString(4, BenchPayload.TYPE.name());
        insert.setBytes(5, BenchPayload.json(number));
    }
}
