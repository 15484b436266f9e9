package io.carillon.cli.shell;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.pool.HikariPool;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;

/** Makes connection pools. */
public final class Pools {
    private static final int CONNECTION_MILLIS = 10_000;
    private static final int VALIDATION_MILLIS = 2_000;

    private Pools() {}

    /** A pool on a database, which is reached at once; the message of a failure has no password in it. */
    public static HikariDataSource on(DatabaseUrl url, int size) {
        HikariConfig config = new HikariConfig();
        config.setPoolName("carillon");
        config.setMaximumPoolSize(size);
        config.setConnectionTimeout(CONNECTION_MILLIS);
        config.addDataSourceProperty("ApplicationName", "carillon");
        // What the URL says comes first. A server that is frozen still accepts connections: the driver must give up
        // waiting
        // for its greeting before it tries the next host.
        config.addDataSourceProperty("connectTimeout", "5");
        config.addDataSourceProperty("socketTimeout", "10");
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
                    "No connection to %s: %s Check that it is up, and host, port, user and password."
                            .formatted(url.shown(), sentence(String.valueOf(cause.getMessage()))),
                    failure);
        }
    }

    /** A pool that nobody will ask for a connection. */
    public static HikariDataSource offline() {
        return new HikariDataSource();
    }

    private static String sentence(String message) {
        String line = message.lines().findFirst().orElse("").strip();
        return line.endsWith(".") ? line : line + ".";
    }
}
