package io.carillon.internal.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.locks.ReentrantLock;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A source of connections. */
public interface ConnectionSource {
    Connection borrow() throws SQLException;

    /** Returns a connection to this source; {@code succeeded} says whether the work on it returned normally. */
    void giveBack(Connection connection, boolean succeeded) throws SQLException;

    /** Returns a source that borrows from the user's pool. */
    static ConnectionSource pool(DataSource source) {
        return new ConnectionSource() {
            @Override
            public Connection borrow() throws SQLException {
                return source.getConnection();
            }

            @Override
            public void giveBack(Connection connection, boolean succeeded) throws SQLException {
                connection.close();
            }
        };
    }

    /** Returns a source without connections, for work on the caller's connection. */
    static ConnectionSource none() {
        return new ConnectionSource() {
            @Override
            public Connection borrow() throws SQLException {
                throw new SQLException("No connection can be borrowed inside the caller's transaction", "08003");
            }

            @Override
            public void giveBack(Connection connection, boolean succeeded) {}
        };
    }

    /**
     * Returns a source that keeps one connection permanently, so that handlers that use up the pool cannot stop the
     * heartbeat. After a failure the connection is replaced.
     */
    static DedicatedConnection dedicated(DataSource source) {
        return new DedicatedConnection(source);
    }

    /** A connection that is kept; {@link #close} returns it to its pool. */
    final class DedicatedConnection implements ConnectionSource, AutoCloseable {
        private final DataSource source;
        private final ReentrantLock lock = new ReentrantLock();
        private @Nullable Connection connection;
        private volatile boolean closed;

        private DedicatedConnection(DataSource source) {
            this.source = source;
        }

        @Override
        public Connection borrow() throws SQLException {
            lock.lock();
            try {
                if (connection == null) connection = source.getConnection();
                return connection;
            } catch (SQLException | RuntimeException failure) {
                lock.unlock();
                throw failure;
            }
        }

        @Override
        public void giveBack(Connection borrowed, boolean succeeded) throws SQLException {
            try {
                if (succeeded) return;
                connection = null;
                borrowed.close();
            } finally {
                lock.unlock();
                if (closed) close();
            }
        }

        /**
         * If a thread still uses the connection, that thread closes it when it is done, so this call does not wait for
         * a server that does not answer.
         */
        @Override
        public void close() throws SQLException {
            closed = true;
            if (!lock.tryLock()) return;
            try {
                if (connection != null) connection.close();
                connection = null;
            } finally {
                lock.unlock();
            }
        }
    }
}
