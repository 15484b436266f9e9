package io.carillon.cli.shell;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.pool.HikariPool;
import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import java.sql.SQLException;

/** Creates connection pools. */
public final class ConnectionPools {
    private static final int CONNECTION_MILLIS = 10_000;
    private static final int VALIDATION_MILLIS = 2_000;

    /** The SQL state {@code invalid_catalog_name}. */
    private static final String NO_SUCH_DATABASE = "3D000";

    private ConnectionPools() {}

    /** Opens a pool and connects immediately. The message of a failure does not contain the password. */
    public static HikariDataSource open(DatabaseUrl url, int size) {
        HikariConfig config = new HikariConfig();
        config.setPoolName("carillon");
        config.setMaximumPoolSize(size);
        config.setConnectionTimeout(CONNECTION_MILLIS);
        config.addDataSourceProperty("ApplicationName", "carillon");
        // Options in the URL override these. A frozen server still accepts connections: the driver must stop waiting
        // for its first response before it tries the next host.
        config.addDataSourceProperty("connectTimeout", "5");
        config.addDataSourceProperty("socketTimeout", "10");
        config.addDataSourceProperty("loginTimeout", "30");
        config.addDataSourceProperty("tcpKeepAlive", "true");
        config.setValidationTimeout(VALIDATION_MILLIS);
        config.setJdbcUrl(url.jdbcUrl());
        if (url.user() != null) config.setUsername(url.user());
        if (url.password() != null) config.setPassword(url.password());
        try {
            return new HikariDataSource(config);
        } catch (HikariPool.PoolInitializationException failure) {
            Throwable cause = failure.getCause() == null ? failure : failure.getCause();
            throw new CarillonException(
                    ErrorCode.DATABASE_UNREACHABLE,
                    "Cannot connect to %s: %s %s"
                            .formatted(url.displayText(), sentence(String.valueOf(cause.getMessage())), advice(cause)),
                    failure);
        }
    }

    private static String advice(Throwable cause) {
        return cause instanceof SQLException problem && NO_SUCH_DATABASE.equals(problem.getSQLState())
                ? "Create it, or correct its name in the URL."
                : "Check that PostgreSQL is running, and check host, port, user and password.";
    }

    /** Returns a pool without a database, for callers that request no connection. */
    public static HikariDataSource unconnected() {
        return new HikariDataSource();
    }

    private static String sentence(String message) {
        String line = message.lines().findFirst().orElse("").strip();
        return line.endsWith(".") ? line : line + ".";
    }
}
