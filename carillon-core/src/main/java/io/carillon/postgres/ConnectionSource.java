package io.carillon.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.locks.ReentrantLock;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Where connections come from and go back to. */
interface ConnectionSource {
    Connection borrow() throws SQLException;

    /** {@code fine}: the work on it did not throw. */
    void giveBack(Connection connection, boolean fine) throws SQLException;

    /** The user's pool. */
    static ConnectionSource pool(DataSource source) {
        return new ConnectionSource() {
            @Override
            public Connection borrow() throws SQLException {
                return source.getConnection();
            }

            @Override
            public void giveBack(Connection connection, boolean fine) throws SQLException {
                connection.close();
            }
        };
    }

    /** For work that brings its connection along. */
    static ConnectionSource none() {
        return new ConnectionSource() {
            @Override
            public Connection borrow() throws SQLException {
                throw new SQLException("Nothing may be borrowed inside a caller's transaction", "08003");
            }

            @Override
            public void giveBack(Connection connection, boolean fine) {}
        };
    }

    /** One connection for good, so that a pool drained by handlers cannot stop a heart. It is replaced whenever work on it threw. */
    static Kept kept(DataSource source) {
        return new Kept(source);
    }

    /** A connection that is kept; closing gives it back to its pool. */
    final class Kept implements ConnectionSource, AutoCloseable {
        private final DataSource source;
        private final ReentrantLock turn = new ReentrantLock();
        private @Nullable Connection connection;
        private volatile boolean closed;

        private Kept(DataSource source) {
            this.source = source;
        }

        @Override
        public Connection borrow() throws SQLException {
            turn.lock();
            try {
                if (connection == null) connection = source.getConnection();
                return connection;
            } catch (SQLException | RuntimeException failure) {
                turn.unlock();
                throw failure;
            }
        }

        @Override
        public void giveBack(Connection borrowed, boolean fine) throws SQLException {
            try {
                if (fine) return;
                connection = null;
                borrowed.close();
            } finally {
                turn.unlock();
                if (closed) close();
            }
        }

        /** Who still works on it gives it back when done: a server that does not answer holds up nobody here. */
        @Override
        public void close() throws SQLException {
            closed = true;
            if (!turn.tryLock()) return;
            try {
                if (connection != null) connection.close();
                connection = null;
            } finally {
                turn.unlock();
            }
        }
    }
}
