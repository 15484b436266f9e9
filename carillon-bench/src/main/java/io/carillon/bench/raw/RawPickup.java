package io.carillon.bench.raw;

import io.carillon.bench.measure.MeasureException;
import io.carillon.bench.measure.Threads;
import io.carillon.bench.ours.Job;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.run.Priority;
import io.carillon.value.Uuid7;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import java.util.function.IntConsumer;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * The least that takes one row from another process: it is stored with a NOTIFY, a thread that waits for that claims it and commits. Nothing is handed to
 * another thread, nothing is looked for, and nobody beats.
 */
public final class RawPickup implements AutoCloseable {
    private static final int WAIT_MILLIS = 200;

    private static final String STORE = """
            WITH stored AS (
              INSERT INTO carillon.run
                (project, id, queue, class, due_at, ready_at, day, origin, target, target_name, codec, payload)
              VALUES ('default', ?, ?, ?, carillon.clock(), carillon.clock(), (carillon.clock() AT TIME ZONE 'UTC')::date, 'direct', 'handler', ?, 'json', ?)
              RETURNING 1)
            SELECT pg_notify('bench', ?) FROM stored
            """;

    private static final String CLAIM = """
            UPDATE carillon.run
               SET owner = ?, attempt = attempt + 1, started_at = carillon.clock()
             WHERE ctid = any(array(
               SELECT r.ctid FROM carillon.run r
                WHERE r.queue = ? AND r.project = 'default' AND r.class = ? AND r.ready_at <= carillon.clock()
                  AND r.start_by > carillon.clock() AND r.owner IS NULL
                ORDER BY r.ready_at LIMIT 1
                FOR UPDATE SKIP LOCKED))
            RETURNING id, payload
            """;

    private final Connection ear;
    private final Connection claims;
    private final IntConsumer onStart;
    private final Thread thread;
    private volatile boolean open = true;

    private RawPickup(BenchDatabase database, IntConsumer onStart) throws SQLException {
        this.ear = database.connect();
        this.claims = database.connect();
        this.onStart = onStart;
        try (Statement listen = ear.createStatement()) {
            listen.execute("LISTEN bench");
        }
        this.thread = Threads.start("bench-plain", this::work);
    }

    /** Waits for rows; {@code onStart} gets the number of each as soon as it is claimed. */
    public static RawPickup start(BenchDatabase database, IntConsumer onStart) throws SQLException {
        return new RawPickup(database, onStart);
    }

    /** Whether it still waits. */
    public boolean listening() {
        return thread.isAlive();
    }

    /** Stores one row on a connection of a pool, and tells of it. */
    public static void store(Connection connection, int number) throws SQLException {
        try (PreparedStatement store = connection.prepareStatement(STORE)) {
            store.setObject(1, Uuid7.next());
            store.setString(2, Job.QUEUE);
            store.setInt(3, Priority.NORMAL.number());
            store.setString(4, Job.TYPE.name());
            store.setBytes(5, Job.json(number));
            store.setString(6, Integer.toString(number));
            store.execute();
        }
    }

    private void work() {
        try {
            listen();
        } catch (SQLException failure) {
            throw new MeasureException("Plain SQL could not take a row: " + failure.getMessage(), failure);
        }
    }

    private void listen() throws SQLException {
        UUID owner = UUID.randomUUID();
        PGConnection signals = ear.unwrap(PGConnection.class);
        try (PreparedStatement claim = claims.prepareStatement(CLAIM);
                PreparedStatement remove =
                        claims.prepareStatement("DELETE FROM carillon.run WHERE project = 'default' AND id = ?")) {
            while (open) {
                PGNotification[] heard = signals.getNotifications(WAIT_MILLIS);
                for (int i = 0; heard != null && i < heard.length; i++) {
                    UUID id = claim(claim, owner);
                    onStart.accept(Integer.parseInt(heard[i].getParameter()));
                    remove.setObject(1, id);
                    remove.executeUpdate();
                }
            }
        }
    }

    private static UUID claim(PreparedStatement claim, UUID owner) throws SQLException {
        claim.setObject(1, owner);
        claim.setString(2, Job.QUEUE);
        claim.setInt(3, Priority.NORMAL.number());
        try (ResultSet row = claim.executeQuery()) {
            if (!row.next()) throw new SQLException("a row was told of and is not there");
            row.getBytes(2);
            return row.getObject(1, UUID.class);
        }
    }

    @Override
    public void close() throws SQLException {
        open = false;
        try (ear;
                claims) {
            thread.join();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }
}
