package io.carillon.bench.raw;

import io.carillon.bench.measure.CpuMeter;
import io.carillon.bench.measure.DrainResult;
import io.carillon.bench.measure.Threads;
import io.carillon.bench.ours.BenchPayload;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.run.Priority;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * R (plain SQL): claim a batch and commit; then delete it with the fence, insert it into the history and commit. Two
 * connections with batches of 1000 rows: the minimum that any scheduler on these tables must do.
 */
public final class RawCycle {
    private static final int CONNECTIONS = 2;
    private static final int BATCH = 1_000;
    static final OffsetDateTime LONG_AGO = OffsetDateTime.of(2000, 1, 1, 0, 0, 0, 0, ZoneOffset.UTC);

    // The lower bound keeps the claim from scanning index entries of deleted rows.
    static final String CLAIM = """
            UPDATE carillon.run
               SET owner = ?, attempt = attempt + 1, started_at = carillon.clock()
             WHERE ctid = any(array(
               SELECT r.ctid FROM carillon.run r
                WHERE r.queue = ? AND r.project = 'default' AND r.priority = ? AND r.target_name = ?
                  AND r.ready_at BETWEEN ? AND carillon.clock()
                  AND r.start_by > carillon.clock() AND r.owner IS NULL
                ORDER BY r.ready_at LIMIT ?
                FOR UPDATE SKIP LOCKED))
            RETURNING id, attempt, ready_at, payload
            """;

    private static final String COMPLETE = """
            WITH done AS (
              DELETE FROM carillon.run r USING unnest(?::uuid[], ?::int[]) AS e(id, attempt)
               WHERE r.project = 'default' AND r.id = e.id AND r.attempt = e.attempt AND r.owner = ?
              RETURNING r.*)
            INSERT INTO carillon.run_history
              (project, id, day, queue, priority, node_deaths, crashes, attempt, failures, due_at, planned_at,
                started_at, ended_at, created_at,
               schedule_id, parent_id, owner, state, origin, target, target_name, key, headers)
            SELECT project, id, day, queue, priority, node_deaths, crashes, attempt, failures, due_at, planned_at,
                   started_at, carillon.clock(), created_at,
                   schedule_id, parent_id, owner, 'succeeded', origin, target, target_name, key, headers
              FROM done
            """;

    private RawCycle() {}

    /** Drains a queue of stored rows. */
    public static DrainResult drain(BenchDatabase database, int jobs) {
        AtomicInteger ended = new AtomicInteger();
        CpuMeter cpu = CpuMeter.start(database.serverPid());
        List<Span> spans = Threads.runConcurrently(CONNECTIONS, () -> {
            try (Connection connection = database.connect()) {
                return new ClaimCycle(connection).run(ended);
            }
        });
        long first = spans.stream().mapToLong(Span::first).min().orElse(0);
        long last = spans.stream().mapToLong(Span::last).max().orElse(0);
        int done = ended.get();
        return new DrainResult(
                jobs, (last - first) / 1e9, Math.max(0, jobs - done), Math.max(0, done - jobs), cpu.used());
    }

    /** Sets the parameters of a claim. */
    static void bindClaim(PreparedStatement claim, UUID owner, OffsetDateTime low, int most) throws SQLException {
        claim.setObject(1, owner);
        claim.setString(2, BenchPayload.QUEUE);
        claim.setInt(3, Priority.NORMAL.number());
        claim.setString(4, BenchPayload.TYPE.name());
        claim.setObject(5, low);
        claim.setInt(6, most);
    }

    private record Span(long first, long last) {}

    private static final class ClaimCycle {
        private final UUID owner = UUID.randomUUID();
        private final Connection connection;
        private OffsetDateTime low = LONG_AGO;

        ClaimCycle(Connection connection) {
            this.connection = connection;
        }

        Span run(AtomicInteger ended) throws SQLException {
            long first = System.nanoTime();
            long last = first;
            try (PreparedStatement claim = connection.prepareStatement(CLAIM);
                    PreparedStatement complete = connection.prepareStatement(COMPLETE)) {
                List<UUID> ids = new ArrayList<>();
                List<Integer> attempts = new ArrayList<>();
                while (claim(claim, ids, attempts)) {
                    ended.addAndGet(complete(complete, ids, attempts));
                    last = System.nanoTime();
                }
            }
            return new Span(first, last);
        }

        private boolean claim(PreparedStatement claim, List<UUID> ids, List<Integer> attempts) throws SQLException {
            ids.clear();
            attempts.clear();
            bindClaim(claim, owner, low, BATCH);
            OffsetDateTime least = null;
            try (ResultSet rows = claim.executeQuery()) {
                while (rows.next()) {
                    ids.add(rows.getObject(1, UUID.class));
                    attempts.add(rows.getInt(2));
                    OffsetDateTime ready = rows.getObject(3, OffsetDateTime.class);
                    rows.getBytes(4);
                    if (least == null || ready.isBefore(least)) least = ready;
                }
            }
            if (least != null) low = least;
            return least != null;
        }

        private int complete(PreparedStatement complete, List<UUID> ids, List<Integer> attempts) throws SQLException {
            Array idArray = connection.createArrayOf("uuid", ids.toArray());
            Array attemptArray = connection.createArrayOf("int4", attempts.toArray());
            complete.setArray(1, idArray);
            complete.setArray(2, attemptArray);
            complete.setObject(3, owner);
            return complete.executeUpdate();
        }
    }
}
