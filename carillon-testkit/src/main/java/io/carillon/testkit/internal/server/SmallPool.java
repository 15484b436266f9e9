package io.carillon.testkit.internal.server;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.SQLTimeoutException;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.logging.Logger;
import javax.sql.ConnectionEvent;
import javax.sql.ConnectionEventListener;
import javax.sql.DataSource;
import javax.sql.PooledConnection;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGConnectionPoolDataSource;

/**
 * A small connection pool, so that the test kit does not depend on a pool library. Validates a connection before it is
 * reused. Thread-safe.
 */
public final class SmallPool implements DataSource, AutoCloseable {
    private static final int WAIT_SECONDS = 30;
    private static final int PROBE_SECONDS = 2;
    private final PGConnectionPoolDataSource source;
    private final int size;
    private final Semaphore free;
    private final ConcurrentLinkedDeque<PooledConnection> idle = new ConcurrentLinkedDeque<>();
    private volatile boolean closed;

    public SmallPool(PGConnectionPoolDataSource source, int size) {
        this.source = source;
        this.size = size;
        this.free = new Semaphore(size, true);
    }

    @Override
    public Connection getConnection() throws SQLException {
        acquire();
        try {
            Connection tested = testedIdle();
            return tested != null ? tested : opened();
        } catch (SQLException | RuntimeException e) {
            free.release();
            throw e;
        }
    }

    private void acquire() throws SQLException {
        if (closed) throw new SQLException("The pool of the test database is closed.", "08003");
        try {
            if (free.tryAcquire(WAIT_SECONDS, TimeUnit.SECONDS)) return;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SQLException("Interrupted while waiting for a connection of the test database.", "57014", e);
        }
        throw new SQLTimeoutException(
                ("All %d connections of the test database were in use for %d s. Close borrowed connections, or create"
                                + " a larger pool with TestDatabase.pool(n).")
                        .formatted(size, WAIT_SECONDS));
    }

    private @Nullable Connection testedIdle() {
        for (PooledConnection pooled = idle.poll(); pooled != null; pooled = idle.poll()) {
            try {
                Connection connection = pooled.getConnection();
                if (connection.isValid(PROBE_SECONDS)) return connection;
            } catch (SQLException e) {
                // The server closed the connection while it was idle. Use the next one, or open a new one.
            }
            discard(pooled);
        }
        return null;
    }

    private Connection opened() throws SQLException {
        PooledConnection pooled = source.getPooledConnection();
        pooled.addConnectionEventListener(new Returned());
        return pooled.getConnection();
    }

    private void discard(PooledConnection pooled) {
        try {
            pooled.close();
        } catch (SQLException e) {
            // The connection is discarded anyway.
        }
    }

    @Override
    public void close() {
        closed = true;
        for (PooledConnection pooled = idle.poll(); pooled != null; pooled = idle.poll()) discard(pooled);
    }

    /** Returns a connection to the pool when its user closes it. */
    private final class Returned implements ConnectionEventListener {
        @Override
        public void connectionClosed(ConnectionEvent event) {
            PooledConnection pooled = (PooledConnection) event.getSource();
            if (closed) discard(pooled);
            else idle.push(pooled);
            free.release();
        }

        @Override
        public void connectionErrorOccurred(ConnectionEvent event) {
            // The user of the connection receives the error. Validation finds the broken connection before
            // it is reused.
        }
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        throw new SQLFeatureNotSupportedException("The test database has only one user.");
    }

    @Override
    public @Nullable PrintWriter getLogWriter() {
        return null;
    }

    @Override
    public void setLogWriter(PrintWriter out) {}

    @Override
    public void setLoginTimeout(int seconds) {
        source.setLoginTimeout(seconds);
    }

    @Override
    public int getLoginTimeout() {
        return source.getLoginTimeout();
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        throw new SQLFeatureNotSupportedException("The pool of the test database does not log.");
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        if (type.isInstance(this)) return type.cast(this);
        throw new SQLException("The pool of the test database is not a " + type.getName() + ".");
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
        return type.isInstance(this);
    }
}
