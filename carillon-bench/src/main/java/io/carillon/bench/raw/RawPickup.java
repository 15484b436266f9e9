package io.carillon.bench.raw;

import io.carillon.bench.measure.MeasureException;
import io.carillon.bench.measure.Threads;
import io.carillon.bench.server.BenchDatabase;
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
 * The minimal way to take one row from another process: the row is stored with a NOTIFY, and a thread that waits for
 * the notification claims it and commits. There is no second thread, no search for due rows and no heartbeat.
 */
public final class RawPickup implements AutoCloseable {
    private static final int WAIT_MILLIS = 200;

    private static final String STORE =
            "WITH stored AS (" + RawInserts.INSERT + " RETURNING 1) SELECT pg_notify('bench', ?) FROM stored";

    private final Connection listenConnection;
    private final Connection claimConnection;
    private final IntConsumer onStart;
    private final Thread thread;
    private volatile boolean open = true;

    private RawPickup(BenchDatabase database, IntConsumer onStart) throws SQLException {
        this.listenConnection = database.connect();
        this.claimConnection = database.connect();
        this.onStart = onStart;
        try (Statement listen = listenConnection.createStatement()) {
            listen.execute("LISTEN bench");
        }
        this.thread = Threads.start("bench-plain", this::work);
    }

    /**
     * Starts to wait for rows.
     *
     * @param onStart receives the number of each row when it is claimed
     */
    public static RawPickup start(BenchDatabase database, IntConsumer onStart) throws SQLException {
        return new RawPickup(database, onStart);
    }

    /** Returns whether the thread still waits for rows. */
    public boolean isListening() {
        return thread.isAlive();
    }

    /** Stores one row on a pooled connection and sends a notification. */
    public static void store(Connection connection, int number) throws SQLException {
        try (PreparedStatement store = connection.prepareStatement(STORE)) {
            RawInserts.bindRow(store, number);
            store.setString(6, Integer.toString(number));
            store.execute();
        }
    }

    private void work() {
        try {
            listen();
        } catch (SQLException failure) {
            throw new MeasureException("Plain SQL could not claim a row: " + failure.getMessage(), failure);
        }
    }

    private void listen() throws SQLException {
        UUID owner = UUID.randomUUID();
        PGConnection signals = listenConnection.unwrap(PGConnection.class);
        try (PreparedStatement claim = claimConnection.prepareStatement(RawCycle.CLAIM);
                PreparedStatement remove = claimConnection.prepareStatement(
                        "DELETE FROM carillon.run WHERE project = 'default' AND id = ?")) {
            while (open) {
                PGNotification[] notifications = signals.getNotifications(WAIT_MILLIS);
                for (int i = 0; notifications != null && i < notifications.length; i++) {
                    UUID id = claim(claim, owner);
                    onStart.accept(Integer.parseInt(notifications[i].getParameter()));
                    remove.setObject(1, id);
                    remove.executeUpdate();
                }
            }
        }
    }

    private static UUID claim(PreparedStatement claim, UUID owner) throws SQLException {
        RawCycle.bindClaim(claim, owner, RawCycle.LONG_AGO, 1);
        try (ResultSet row = claim.executeQuery()) {
            if (!row.next()) throw new SQLException("no row found after a notification");
            row.getBytes(4);
            return row.getObject(1, UUID.class);
        }
    }

    @Override
    public void close() throws SQLException {
        open = false;
        try (listenConnection;
                claimConnection) {
            thread.join();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }
}
