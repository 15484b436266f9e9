package io.carillon.it.frontdoor;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.logging.Logger;
import javax.sql.DataSource;

/** A pool that says how large it is, by the getter that HikariCP has. */
public final class SizedPool implements DataSource {
    private final DataSource behind;
    private final int size;

    SizedPool(DataSource behind, int size) {
        this.behind = behind;
        this.size = size;
    }

    public int getMaximumPoolSize() {
        return size;
    }

    @Override
    public Connection getConnection() throws SQLException {
        return behind.getConnection();
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        return behind.getConnection(user, password);
    }

    @Override
    public PrintWriter getLogWriter() throws SQLException {
        return behind.getLogWriter();
    }

    @Override
    public void setLogWriter(PrintWriter out) throws SQLException {
        behind.setLogWriter(out);
    }

    @Override
    public void setLoginTimeout(int seconds) throws SQLException {
        behind.setLoginTimeout(seconds);
    }

    @Override
    public int getLoginTimeout() throws SQLException {
        return behind.getLoginTimeout();
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        return behind.getParentLogger();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        return behind.unwrap(type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) throws SQLException {
        return behind.isWrapperFor(type);
    }
}
