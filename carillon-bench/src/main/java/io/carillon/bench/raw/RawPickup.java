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
 * The least that takes one row from another process: it is stored with a NOTIFY, a thread that waits for that claims it and commits. Nothing is handed to
 * another thread, nothing is looked for, and nobody beats.
 */
public final class RawPickup implements AutoCloseable {
    private static final int WAIT_MILLIS = 200;

    private static final String STORE =
            "WITH stored AS (" + RawInserts.INSERT + " RETURNING 1) SELECT pg_notify('bench', ?) FROM stored";

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
            RawInserts.describe(store, number);
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
        try (PreparedStatement claim = claims.prepareStatement(RawCycle.CLAIM);
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
        RawCycle.ask(claim, owner, RawCycle.LONG_AGO, 1);
        try (ResultSet row = claim.executeQuery()) {
            if (!row.next()) throw new SQLException("a row was told of and is not there");
            row.getBytes(4);
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
